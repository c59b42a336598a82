"""Rows that are needed soon: the processor fetches them while it computes with others.

It foresees a walk through memory from one row to the next, but not where the next of some rows
lies: without a word of ours, half of the rows take longer than all of them. Nor does it take many
questions at once: rows are asked for piece by piece, each beside the work on a piece of others.
"""

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

AHEAD = 8  # rows: memory answers by then
_LINE = 64  # bytes that come at a time
_READ, _SOON, _DATA = 0, 3, 1


def _prefetched(_, table, i, start, end):
    """Ask for columns `start` to `end` of row `i` of a dense table, if it has that row."""

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        if kind.ndim == 2:
            array = context.make_array(kind)(context, builder, arguments[0])
            i, start, end = (
                context.cast(builder, value, found, types.intp)
                for value, found in zip(arguments[1:], signature.args[1:])
            )
            n = cgutils.unpack_tuple(builder, array.shape)[0]
            step = end.type(_LINE * 8 // kind.dtype.bitwidth)
            with (
                builder.if_then(builder.icmp_signed("<", i, n)),
                cgutils.for_range_slice(builder, start, end, step) as (k, _),
            ):
                _ask(builder, cgutils.get_item_pointer(context, builder, kind, array, [i, k]))
        return context.get_dummy_value()

    return types.void(table, i, start, end), generate


def _ask(builder, place):
    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    wants = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], wants)
    how = [word(what) for what in (_READ, _SOON, _DATA)]
    builder.call(instruction, [builder.bitcast(place, byte), *how])


def _nothing(table, i, start, end):
    """Uncompiled, there is no such instruction."""


prefetch = _nothing if config.DISABLE_JIT else intrinsic(_prefetched)
