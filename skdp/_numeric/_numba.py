"""The interface to numba, through which all kernels of skdp are compiled."""

import contextlib
import gc
import platform
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import compiler, config, ir, sigutils, types
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.errors import TypingError
from numba.core.inline_closurecall import InlineWorker, callee_ir_validator
from numba.core.untyped_passes import InlineInlinables

from skdp._numeric._kernel_cache import KernelCache, wait

# The error model of numpy saves a branch in every division.
# No kernel is called from C, and wrappers for C would take a twenty-fifth of all compile time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _find_known_options() -> frozenset[str]:
    """Return the options that numba's compiler for the processor supports."""
    target = getattr(numba.njit(lambda: None), "targetdescr", None)
    return frozenset(dir(getattr(target, "options", None)))


# Options of this numba, which guarantees few: kernels work without the others, only slower.
_KNOWN_OPTIONS = _find_known_options()


def as_readonly(array: Any) -> Any:
    """Return a read-only view of an array that a kernel only reads.
    numba compiles kernels, and all that they call, separately for read-only and writable arrays.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def njit(function: Callable[..., Any], *, is_shared: bool = False, **options: Any) -> Any:
    """Compile `function` lazily, without the GIL, and cache the machine code on disk.
    No fast-math (results would depend on the compiler), no ``prange`` (joblib has the threads).
    """
    _name_by_constants(function)
    kernel = numba.njit(function, pipeline_class=_Compiler, **_known({**_OPTIONS, **options}))
    if hasattr(kernel, "_cache"):  # otherwise compilation is disabled
        entry = _Entry(kernel)
        kernel._cache = KernelCache(kernel, is_for_python=entry.is_needed)
        entry.is_shared = is_shared
    return kernel


def is_safe_in_python(result: Any) -> bool:
    """Return whether a kernel may return a type to Python: only numbers and tuples of numbers."""
    # numba makes arrays and named tuples by running Python code, and does not check for errors: if
    # a signal handler raises there, it continues with a null pointer.
    if isinstance(result, types.BaseNamedTuple):
        return False
    if isinstance(result, types.Tuple | types.UniTuple):
        return all(is_safe_in_python(part) for part in result.types)
    return isinstance(result, types.Number | types.Boolean | types.NoneType)


@contextlib.contextmanager
def _collecting_no_garbage() -> Iterator[None]:
    """Return a context without garbage collection, which takes a tenth of the compile time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _UsedBlock(ir.Block):
    """A block of a section's code, which moves into the kernel itself instead of a copy."""

    def __deepcopy__(self, memo: Any) -> "_UsedBlock":
        return self


class _Inliner(InlineWorker):
    """What inlines sections: numba would copy each block of them twice, with all variables."""

    def __init__(self, state: Any):
        super().__init__(
            state.typingctx, state.targetctx, state.locals, state.pipeline, state.flags,
            validator=callee_ir_validator,
        )  # fmt: skip
        self._compiler_pipeline = _define_untyped_pipeline

    def inline_function(
        self, caller_ir: Any, block: Any, i: int, function: Any, arg_typs: Any = None
    ) -> Any:
        """Inline a section at statement i of a block; return its code, blocks and variables."""
        found = super().inline_function(caller_ir, block, i, function, arg_typs)
        for _, used in found[-1]:
            used.__class__ = ir.Block
        return found

    def run_untyped_passes(self, func: Any, enable_ssa: bool = False) -> Any:
        """Return the code of a section, made for this place only."""
        code = super().run_untyped_passes(func, enable_ssa)
        for block in code.blocks.values():
            block.__class__ = _UsedBlock
        return code


@register_pass(mutates_CFG=True, analysis_only=False)
class _InlineSections(InlineInlinables):
    """The pass of numba that inlines sections, with an inliner of ours."""

    _name = f"inline_sections_{uuid4().hex}"  # numba refuses a name that a reloaded module has had

    def _do_work(self, state: Any, work_list: Any, block: Any, i: int, call: Any, _: Any) -> Any:
        return super()._do_work(state, work_list, block, i, call, _Inliner(state))


def _inline_sections(passes: PassManager) -> PassManager:
    """Replace the pass of numba that inlines functions."""
    passes.passes = [
        (_InlineSections if made is InlineInlinables else made, text)
        for made, text in passes.passes
    ]
    passes.finalize()
    return passes


def _define_untyped_pipeline(state: Any, name: str = "untyped") -> PassManager:
    return _inline_sections(compiler.DefaultPassBuilder.define_untyped_pipeline(state, name))


class _Compiler(compiler.CompilerBase):
    """The compiler of kernels: numba's, but for the copies of sections."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes of numba's compiler."""
        return [_inline_sections(compiler.DefaultPassBuilder.define_nopython_pipeline(self.state))]


class _Flags(compiler.Flags):
    """Options of a compilation, which numba compares tens of thousands of times in a first fit."""

    # numba looks up all options for each comparison; only a few of them are ever set. Two kernels
    # that differ only in whether Python or C may call them share its functions, such as ``max``.
    __slots__ = ()
    _OF_ENTRIES = "no_cpython_wrapper", "no_cfunc_wrapper"

    def __hash__(self) -> int:
        return _HASH_OF_FLAGS

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        return self._values == other._values or self._chosen(self) == self._chosen(other)

    @classmethod
    def _chosen(cls, flags: Any) -> dict[str, Any]:
        """Return the options that do not have their default values."""
        return {
            name: value
            for name, value in flags._values.items()
            if name not in cls._OF_ENTRIES and value != cls.options[name].default
        }


# The hash of all flags: numba's hash depends only on the names of the options.
_HASH_OF_FLAGS = hash(compiler.Flags())


class _Entry:
    """The entry point of a kernel for Python, which is compiled when Python calls the kernel."""

    # Compiling it takes as long as many kernels themselves, and most calls come from kernels.
    _calls = threading.local()

    def __init__(self, kernel: Any):
        self._kernel = kernel
        self.is_shared = False  # see `njit_outlined`
        self._missing: set[tuple[Any, ...]] = set()
        self._compile_for_args = kernel._compile_for_args
        self._compile, self._add_overload = kernel.compile, kernel.add_overload
        self._set_flags = kernel._compiler._customize_flags
        kernel._compile_for_args = self.compile_for_args
        kernel.compile, kernel.add_overload = self.compile, self.add_overload
        self._get_call_template = kernel.get_call_template
        kernel.get_call_template = self.get_call_template
        kernel._compiler._customize_flags = self.set_flags

    def is_needed(self) -> bool:
        """Return whether the kernel is compiled because Python has called it."""
        return getattr(self._calls, "kernel", None) is self._kernel

    def compile_for_args(self, *args: Any, **params: Any) -> Any:
        """Compile the kernel for a call from Python, and run it."""
        before = getattr(self._calls, "kernel", None)
        self._calls.kernel = self._kernel
        try:
            return self._compile_for_args(*args, **params)
        finally:
            self._calls.kernel = before

    def get_call_template(self, args: Any, params: Any) -> Any:
        """Resolve a call in a kernel. A number in its code has the same machine code as others."""
        return self._get_call_template([types.unliteral(kind) for kind in args], params)

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for argument types, a second time if the entry point is missing."""
        arguments = tuple(sigutils.normalize_signature(signature)[0])
        if self.is_needed() and arguments in self._missing:
            self._missing.discard(arguments)
            self._kernel.overloads.pop(arguments, None)
        is_outermost = wait.began is None
        try:
            with _collecting_no_garbage():
                return self._compile(signature)
        finally:
            if is_outermost:
                wait.end()

    def set_flags(self, flags: Any) -> Any:
        """Set the flag that determines whether numba compiles an entry point."""
        if not self.is_needed():
            flags.no_cpython_wrapper = True
        return _Flags(self._set_flags(flags))

    def add_overload(self, compiled: Any) -> None:
        """Register compiled code, which Python can call only if it has an entry point."""
        if self.is_shared:
            self._kernel._cache.share(compiled)
        if self.is_needed():
            result = compiled.signature.return_type
            if not is_safe_in_python(result):
                raise TypeError(
                    f"{compiled.fndesc.qualname} returns {result}: a signal handler that raises "
                    "while it is handed to Python would end the interpreter. A kernel that Python "
                    "calls returns numbers and writes the rest to arrays it is given."
                )
            self._add_overload(compiled)
        else:
            arguments = tuple(compiled.signature.args)
            self._missing.add(arguments)
            self._kernel.overloads[arguments] = compiled


def _name_by_constants(function: Callable[..., Any]) -> None:
    """Give a unique name to a kernel that encloses constants or other kernels."""
    # numba names machine code by the kernel's name and signature, so a process that loads two such
    # kernels, compiled by other processes, could run one instead of the other.
    if function.__closure__:
        values = [cell.cell_contents for cell in function.__closure__]
        constants = repr([_name_of(value) if callable(value) else value for value in values])
        function.__qualname__ += f"_{zlib.crc32(constants.encode()):08x}"


def _name_of(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in _KNOWN_OPTIONS}


def njit_internal(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a part of kernels, which only kernels may call: Python gets a TypeError."""
    part = njit(function, no_cpython_wrapper=True, **options)

    def refuse(*args: Any, **params: Any) -> Any:
        raise TypeError(
            f"{part.__name__} is a part of kernels, which cannot be called from Python: njit makes "
            "kernels that can."
        )

    if hasattr(part, "_compile_for_args"):
        part._compile_for_args = refuse
    return part


def njit_loop(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that makes no arrays."""
    # Reference counts would cost two atomic instructions for every array that a step of the loop
    # uses: half the time of a sweep.
    return njit(function, _nrt=False)


def njit_outlined(function: Callable[..., Any], *, makes_arrays: bool = False) -> Any:
    """Compile a long part of kernels once, instead of into each kernel that calls it."""
    # A loop passes its options on to the functions that it calls, unless they override them.
    return njit(function, is_shared=True, _nrt=makes_arrays, forceinline=False)


def njit_internal_nogc(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that only kernels may call."""
    return njit_internal(function, _nrt=False)


def njit_forceinline(function: Callable[..., Any]) -> Any:
    """Compile a step of an inner loop into the loop, because calls would copy array headers."""
    return njit(function, _nrt=False, forceinline=True)


def njit_inlined(function: Callable[..., Any]) -> Any:
    """Compile a long step of an inner loop into the loop; only kernels may call it."""
    return njit_internal(function, _nrt=False, forceinline=True)


def njit_inlined_source(function: Callable[..., Any]) -> Any:
    """Return a section of a long kernel, which is copied into the kernel before compilation.
    Compiled apart, it would be optimized twice. It is for outer levels and shares the options.
    """
    return numba.njit(function, **_known({**_OPTIONS, "inline": "always"}))


def count_register_bits() -> int:
    """Return the total number of bits of the vector registers for which numba compiles."""
    # The name of the processor does not suffice: options of numba may switch AVX off.
    settings: Any = config  # numba makes its attributes during import
    if settings.CPU_FEATURES is None:
        features = {name for name, has in llvm.get_host_cpu_features().items() if has}
        if not settings.ENABLE_AVX:
            features = {name for name in features if not name.startswith("avx")}
    else:
        parts = settings.CPU_FEATURES.split(",")
        features = {part.strip()[1:] for part in parts if part.strip().startswith("+")}
    if "avx512f" in features:
        return 32 * 512
    if "avx" in features:
        return 16 * 256
    if platform.machine().lower() in ("arm64", "aarch64"):
        return 32 * 128
    return 16 * 128


def check_arguments(name: str, arguments: Any, kinds: Any) -> None:
    """Raise TypingError for arguments of types that an intrinsic would misread.
    `kinds` are types, or classes of them; arrays may be read-only.
    """
    for i, (argument, kind) in enumerate(zip(arguments, kinds, strict=True)):
        argument = types.unliteral(argument)
        if isinstance(kind, type):
            fits = isinstance(argument, kind)
        elif isinstance(kind, types.Array) and isinstance(argument, types.Array):
            shape = kind.dtype, kind.ndim, kind.layout
            fits = (argument.dtype, argument.ndim, argument.layout) == shape
        else:
            fits = argument == kind
        if not fits:
            wanted = kind.__name__ if isinstance(kind, type) else kind
            raise TypingError(f"{name}: argument {i + 1} must be {wanted}, got {argument}.")
