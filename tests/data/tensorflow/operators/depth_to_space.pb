
;
x0Placeholder*
dtype0*
shape:
R
DepthToSpaceDepthToSpacex0*
T0*

block_size*
data_formatNHWC
%
y0IdentityDepthToSpace*
T0
…
value/x0Const*
dtype0*ä
valueÚB×"À'v?OÓ@¦Ø¿¿ÖVå>B{†?8öß½+¾ú?’Ü6½X’¿z=ˆ?/d»<kO?¿ÂW?›Ç¿ÿ}Š¿GöŸ¿¯­%?Lô?˜‘-¿°º"¿‚C?#??…‘?8z–>HW,?+4´=	‰¿O•3¿ug ?­óv¿Lhí¾öÇ·?€Bv¿rH¿‰‘Y¾6û	?ë¬–=ch¾\å?MÙ>F!f?Y?‘K.?Gš¿…•¾Ðð¾åþ>
ˆ
expected/y0Const*
dtype0*ä
valueÚB×"À'v?OÓ@¦Ø¿¿ÖVå>’Ü6½X’¿z=ˆ?/d»<GöŸ¿¯­%?Lô?˜‘-¿B{†?8öß½+¾ú?kO?¿ÂW?›Ç¿ÿ}Š¿°º"¿‚C?#??…‘?8z–>HW,?+4´=	‰¿öÇ·?€Bv¿rH¿‰‘Y¾MÙ>F!f?Y?‘K.?O•3¿ug ?­óv¿Lhí¾6û	?ë¬–=ch¾\å?Gš¿…•¾Ðð¾åþ>