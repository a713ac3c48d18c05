# Completion of cleave for fish, from the tables of commands and options that cleave prints.

function __cleave_command
    set -l words (commandline -opc)
    set -q words[2]; and echo $words[2]
end

function __cleave_options
    set -l command (__cleave_command)
    or return
    # A line has a name, a letter, a value and a description.
    cleave $command --list-options 2>/dev/null | awk -F '\t' '{
      print $1 "\t" $4
      if ($2 ~ /^-[^ ]/) print $2 "\t" $4
    }'
end

complete -c cleave -n 'not __cleave_command' -f -a '(cleave --list-commands 2>/dev/null)'
complete -c cleave -n 'not __cleave_command' -f -l help -d 'Say which commands there are'
complete -c cleave -n 'not __cleave_command' -f -l version -d 'Say the version'
complete -c cleave -n '__cleave_command; and string match -q -- "-*" (commandline -ct)' -f -a '(__cleave_options)'
