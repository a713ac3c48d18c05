# SPDX-License-Identifier: GPL-2.0-or-later
import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy
import numpy.typing

__version__: str
Cleave: Any

Array = numpy.typing.NDArray[Any]
Shape = Sequence[int]
Path = Union[str, 'os.PathLike[str]']
Size = Union[int, str]

class Error(Exception):
    message: str
    domain: str
    code: int

class ModelError(Error): ...
class NotFoundError(Error, KeyError): ...

class LimitError(Error):
    @property
    def smallest(self) -> Optional[int]: ...

class Memory(NamedTuple):
    peak: int
    arena: int

class MemoryStep(NamedTuple):
    name: str
    op: str
    live_bytes: int

class Buffer(NamedTuple):
    name: str
    bytes: int
    offset: int
    first: int
    last: int

class Timeline(NamedTuple):
    peak: int
    arena: int
    peak_step: int
    steps: List[MemoryStep]
    buffers: List[Buffer]

class Part(NamedTuple):
    graph: Graph
    level: int
    subgraph: int
    after: List[int]
    weight_bytes: int
    arena_bytes: int

class Partition(List[Part]):
    outputs: Dict[str, str]
    def run(self, inputs: Mapping[str, Any], threads: Union[int, str] = ...) -> Dict[str, Array]: ...

class Difference(NamedTuple):
    different: int
    largest: float
    message: str = ...
    @property
    def equal(self) -> bool: ...

class Differences(Dict[str, Difference]):
    @property
    def equal(self) -> bool: ...
    def is_near(self, tolerance: float) -> bool: ...

class Port(NamedTuple):
    shape: Tuple[int, ...]
    dtype: numpy.dtype[Any]

class Tensor:
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def element(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def numpy(self) -> Array: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    def __array__(self, dtype: Any = ..., copy: Optional[bool] = ...) -> Array: ...

class Operand:
    @property
    def node(self) -> Optional[Node]: ...
    @property
    def result(self) -> Result: ...

class Result:
    @property
    def name(self) -> str: ...
    @property
    def node(self) -> Node: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def element(self) -> str: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def uses(self) -> List[Operand]: ...

class Node:
    @property
    def name(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def attrs(self) -> Dict[str, Any]: ...
    @property
    def operands(self) -> List[Optional[Result]]: ...
    @property
    def results(self) -> List[Result]: ...
    @property
    def constant(self) -> Optional[Array]: ...
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def macs(self) -> int: ...

class SplitReport:
    @property
    def split(self) -> Dict[str, List[str]]: ...
    @property
    def ranges(self) -> Dict[str, List[Tuple[Tuple[int, int], ...]]]: ...
    @property
    def not_split(self) -> Dict[str, Tuple[str, str]]: ...
    @property
    def totals(self) -> Dict[str, int]: ...

class Bundle:
    @property
    def stats(self) -> Dict[str, int]: ...
    @property
    def files(self) -> Dict[str, str]: ...
    def write(self, folder: Path) -> None: ...

class FitReport:
    @property
    def totals(self) -> Dict[str, Union[int, float]]: ...
    @property
    def peak(self) -> str: ...
    @property
    def loops(self) -> Optional[Dict[str, int]]: ...
    def apply(self, graph: Graph) -> SplitReport: ...

class Program:
    def __init__(self, graph: Graph, threads: Union[int, str] = ..., reference: bool = ..., trace: bool = ..., as_is: bool = ...) -> None: ...
    def __call__(self, *args: Any, **inputs: Any) -> Dict[str, Array]: ...
    def run(self, names: Optional[Sequence[str]], feed: Mapping[str, Any]) -> List[Array]: ...
    @property
    def inputs(self) -> Dict[str, Port]: ...
    @property
    def outputs(self) -> Dict[str, Port]: ...
    def profile(self, runs: int = ..., **inputs: Any) -> List[Dict[str, Any]]: ...
    @property
    def stats(self) -> Dict[str, int]: ...
    @property
    def trace(self) -> Optional[str]: ...

class ShapedProgram:
    def __init__(self, path: Path, options: Any, threads: Union[int, str] = ..., reference: bool = ..., max_programs: int = ...) -> None: ...
    def __call__(self, *args: Any, **inputs: Any) -> Dict[str, Array]: ...
    @property
    def inputs(self) -> Dict[str, Port]: ...
    @property
    def stats(self) -> Dict[str, int]: ...

class Graph:
    def __iter__(self) -> Iterator[Node]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Node: ...
    def __contains__(self, name: str) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def nodes(self) -> List[Node]: ...
    @property
    def inputs(self) -> List[Result]: ...
    @property
    def outputs(self) -> Dict[str, Result]: ...
    @property
    def macs(self) -> int: ...
    def copy(self) -> Graph: ...
    def memory(self, threads: Union[int, str] = ...) -> Memory: ...
    def memory_timeline(self, threads: Union[int, str] = ...) -> Timeline: ...
    def random_inputs(self, seed: int = ...) -> Dict[str, Array]: ...
    def diff(self, other: Graph, inputs: Optional[Mapping[str, Any]] = ..., seed: int = ...) -> Differences: ...
    def report(self, path: Path, times: bool = ..., **options: Any) -> None: ...
    def save(self, path: Path) -> None: ...
    def to_bytes(self) -> bytes: ...
    def to_onnx(self) -> Any: ...
    def split(
        self,
        nodes: Union[None, str, Node, Sequence[Union[str, Node]]] = ...,
        *,
        dims: Union[None, int, str, Sequence[Union[int, str]]] = ...,
        num_chunks: Union[None, int, Sequence[int]] = ...,
        chunk_size: Union[None, int, Sequence[int]] = ...,
        chunk_sizes: Union[None, str, Sequence[int], Sequence[Sequence[int]]] = ...,
        chunk_weights: Union[None, str, Sequence[float], Sequence[Sequence[float]]] = ...,
        slice_ranges: Union[None, str, Sequence[slice], Sequence[Sequence[Union[slice, Tuple[int, int]]]]] = ...,
        align: Union[None, int, Sequence[int]] = ...,
        min_chunk: Union[None, int, Sequence[int]] = ...,
        small_first: bool = ...,
        max_piece_memory: Optional[Size] = ...,
        max_subgraph_memory: Optional[Size] = ...,
        max_schedule_memory: Optional[Size] = ...,
        max_added_macs: Optional[float] = ...,
        max_pieces: Optional[int] = ...,
        search_budget: Optional[int] = ...,
        depth: Optional[int] = ...,
        halo: Optional[str] = ...,
        strips_per_band: Optional[int] = ...,
        single_use: bool = ...,
    ) -> SplitReport: ...
    def split_for_threads(self, threads: Union[int, str]) -> SplitReport: ...
    def partition(
        self,
        parts: Optional[int] = ...,
        at: Union[None, str, Sequence[str]] = ...,
        max_bytes: Optional[Size] = ...,
    ) -> Partition: ...
    def extract(
        self,
        begin: Union[None, str, Sequence[str]] = ...,
        end: Union[None, str, Sequence[str]] = ...,
    ) -> Graph: ...
    def fit(
        self,
        max_memory: Optional[Size] = ...,
        max_added_macs: Optional[float] = ...,
        max_added_latency: Optional[float] = ...,
        threads: Union[int, str] = ...,
        progress: Union[None, bool, Callable[[float], Any]] = ...,
        exclude_inputs: bool = ...,
        target: str = ...,
    ) -> FitReport: ...
    def plan_fit(
        self,
        max_memory: Optional[Size] = ...,
        max_added_macs: Optional[float] = ...,
        max_added_latency: Optional[float] = ...,
        threads: Union[int, str] = ...,
        progress: Union[None, bool, Callable[[float], Any]] = ...,
        exclude_inputs: bool = ...,
        target: str = ...,
    ) -> FitReport: ...
    def frontier(
        self,
        max_added_macs: Optional[float] = ...,
        max_added_latency: Optional[float] = ...,
        threads: Union[int, str] = ...,
        progress: Union[None, bool, Callable[[float], Any]] = ...,
        exclude_inputs: bool = ...,
    ) -> List[FitReport]: ...
    def bundle(
        self,
        folder: Optional[Path] = ...,
        max_memory: Optional[Size] = ...,
        max_added_macs: Optional[float] = ...,
        *,
        name: Optional[str] = ...,
        align: Optional[int] = ...,
        io_type: Optional[str] = ...,
        kernels: Optional[str] = ...,
        weights: Optional[str] = ...,
        single_file: bool = ...,
        input: Union[None, str, Mapping[str, str]] = ...,
        output: Union[None, str, Mapping[str, str]] = ...,
        memory: Optional[Mapping[str, Size]] = ...,
        state: Union[None, str, Sequence[str], Mapping[str, str]] = ...,
    ) -> Bundle: ...
    def optimize(self, passes: str = ..., progress: Optional[Callable[[str], Any]] = ...) -> bool: ...
    def compile(self, threads: Union[int, str] = ..., reference: bool = ..., trace: bool = ..., as_is: bool = ...) -> Program: ...
    def save_program(self, path: Path, threads: Union[int, str] = ..., reference: bool = ..., as_is: bool = ...) -> None: ...
    def __call__(self, *args: Any, **inputs: Any) -> Dict[str, Array]: ...
    def dot(self, *, constants: bool = ..., clusters: bool = ..., overview: bool = ...) -> str: ...
    def draw(self, path: Path, *, constants: bool = ..., clusters: bool = ..., overview: bool = ...) -> None: ...
    def svg(self, *, constants: bool = ..., clusters: bool = ..., overview: bool = ...) -> str: ...

def compile(
    path: Path,
    shapes: Union[None, Shape, Mapping[str, Shape]] = ...,
    dims: Optional[Mapping[str, int]] = ...,
    values: Optional[Mapping[str, Any]] = ...,
    threads: Union[int, str] = ...,
    reference: bool = ...,
    max_programs: int = ...,
) -> ShapedProgram: ...
def load(
    model: Union[Path, bytes, Any],
    shapes: Union[None, Shape, Mapping[str, Shape]] = ...,
    dims: Optional[Mapping[str, int]] = ...,
    values: Optional[Mapping[str, Any]] = ...,
    folder: Optional[Path] = ...,
) -> Graph: ...
def load_program(path: Path, model: Optional[Path] = ..., trace: bool = ...) -> Program: ...
def parse(
    data: bytes,
    folder: Optional[Path] = ...,
    shapes: Union[None, Shape, Mapping[str, Shape]] = ...,
    dims: Optional[Mapping[str, int]] = ...,
    values: Optional[Mapping[str, Any]] = ...,
) -> Graph: ...
def as_tensor(value: Any, element: Optional[str] = ...) -> Tensor: ...
def split_op(operator_name: str, shape: Shape, **arguments: Any) -> Tuple[int, List[int]]: ...
