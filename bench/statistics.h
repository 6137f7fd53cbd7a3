// The clock and the order statistics of all benchmark programs.
#pragma once

double now(void);                                            // seconds
double cpu_now(void);                                        // of this thread
void sort_numbers(double* numbers, int count);               // ascending
double quantile(const double* sorted, int count, double q);  // q in 0..1; between two numbers where needed
