/** Default maximum number of provider calls in one run: enough for a plan with many steps, and an end for a model in a loop. */
export const MAX_STEPS = 50;
/** Default maximum time of one run, in minutes, with its waits for tools and approvals. */
export const MAX_MINUTES = 120;
