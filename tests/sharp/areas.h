/* The areas of the conformance program, each run by all ranks. */
#ifndef HOCKET_TESTS_SHARP_AREAS_H
#define HOCKET_TESTS_SHARP_AREAS_H

/* in the order, and with the habits, of who uses the interface; each in a file of its name */
void as_ucc(void);
void as_nccl(void);
void as_mvapich2(void); /* TEST_LIBRARY: the library's path */
/* matrix.c */
void types(void);
void sizes(void); /* TEST_WINDOW: the switches' */
void pairs(void);
void windows(void);
/* groups.c */
void shapes(void);
void many(void);
void too_many(void);
void outstanding(void);
void threads(void);
/* troubles.c */
void wrong_arguments(void);
void init_is_refused(void);  /* TEST_CODE: with which error */
void group_is_refused(void); /* TEST_CODE */
void lock_is_taken(void);
void lock_is_refused(void);
void switch_is_lost(void); /* TEST_SWITCH_PID: whom rank 0 kills */
/* the same, and which error a new communicator has while there is no switch, and how long that may take:
 * TEST_MOST_SECONDS, and TEST_TREES if there are several */
void switch_comes_back(void);
void switch_does_not_come_back(void);
void switch_does_not_answer(void); /* TEST_SWITCH_PID: whom rank 0 stops */
void rank_is_cut_off(void);        /* TEST_LASTS: it can do something afterwards */
void member_leaves(void);
void peer_never_comes(void);

#endif
