
7
x0Placeholder*
dtype0*
shape:
4
UnpackUnpackx0*
T0*

axis*	
num

y0IdentityUnpack*
T0
!
y1IdentityUnpack:1*
T0
!
y2IdentityUnpack:2*
T0

value/x0Const*
dtype0*}
valuetBr"`Í?:KI@’R?\¯}>qw­?bMú½lê)?Ä­¡>ÓVÄ=Vü#¿«º?Á¿øáÀ%ÃÊ?ƒ
ë;‡>u¿(??³‚¿–j?øÅp?øv>Þ'ñ=9·N>–5?
\
expected/y0Const*
dtype0*9
value0B." Í?:KI@’R?\¯}>øáÀ%ÃÊ?ƒ
ë;‡>u¿
\
expected/y1Const*
dtype0*9
value0B." qw­?bMú½lê)?Ä­¡>(??³‚¿–j?øÅp?
\
expected/y2Const*
dtype0*9
value0B." ÓVÄ=Vü#¿«º?Á¿øv>Þ'ñ=9·N>–5?