"""UCI C4.5 files of the MUSK kind: ``molecule,conformation,values…,class.``, without a header."""

from mixedbag.datasets._formats.rows import Rows
from mixedbag.datasets._formats.source import number_table


def read_c45(source):
    bag, instance, label, texts, lines = [], [], [], [], []
    for line, text in source.lines():
        if not text.endswith("."):
            raise source.error("the line does not end in a class and a full stop: is it cut?", line)
        head = text[:-1].split(",", 2)
        values, _, klass = head[-1].rpartition(",")
        if len(head) < 3 or not values:
            raise source.error("expected a bag, an instance, values and a class", line)
        if not (head[0].strip() and head[1].strip() and klass.strip()):
            raise source.error("the bag, the instance or the class has no name", line)
        bag.append(head[0].strip())
        instance.append(head[1].strip())
        label.append(klass.strip())
        texts.append(values)
        lines.append(line)
    table = number_table(source, texts, lines)
    names = [f"f{j}" for j in range(1, table.shape[1] + 1)]
    return Rows(table, bag, label, lines, names, instance)
