"""The same three instances in two bags, in every format."""

import numpy as np

X = np.array([[1.5, -2.0], [0.0, 4.0], [7.0, 8.0]])

C45 = "\nmol-a,a1,1.5,-2,1.\nmol-a,a2,0,4,1.\nmol-b,b1,7,8,0.\n"
COLONS = "3 2\r\n0:5:1 1:1.5 2:-2\r\n1:5:1 2:4\r\n2:9:-1 1:7 2:8\r\n"
SPARSE = "i1,b1,1,1:1.5,2:-2\ni2,b1,1,2:4\ni3,b2,0,1:7,2:8\n"
COMMAS = "i1,b1,1,1.5,-2\ni2,b1,1,0,4\ni3,b2,0,7,8\n"
ARFF = r"""% a comment
@relation tiny

@attribute mol {a,'b c'}
@attribute bag relational
  @attribute f1 numeric
  @attribute "f 2" real
@end bag
@attribute class {0,1}
@DATA
a,"1.5,-2,\n0,4,",1,{6}
'b c','7,8',0
"""
FLAT_ARFF = """@relation flat
@attribute mol string
@attribute f1 numeric
@attribute f2 numeric
@attribute class {0,1}
@data
'b, 1',1.5,-2,1
'b, 1',0,4,1
z,7,8,0
"""


CSV = """molecule,active,shape,charge,polar,colour,pH
m-1,yes,1,0.5,true,red,7
m-1,yes,2,,false,blue,NA
m-2,no,3,-1e-1,true,red,6.5
"""


def prtools(**changes):
    fields = {
        "data": X,
        "nlab": np.array([[2], [2], [1]]),
        "lablist": np.array(["negative", "positive"]),
        "ident": {"milbag": np.array([[4], [4], [6]])},
    }
    return {"x": fields | changes}
