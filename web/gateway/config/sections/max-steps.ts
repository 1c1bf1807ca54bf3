/** Default maximum number of provider calls in one run: enough for a plan with many steps, and an end for a model in a loop. */
export const MAX_STEPS = 50;
