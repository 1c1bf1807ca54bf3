/** Provider calls in one run, where nothing else is said: enough for a plan with many steps, and an end to a model that has lost itself. */
export const MAX_STEPS = 50;
