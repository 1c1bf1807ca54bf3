import { z } from '#shared/rpc/zod.ts';

/** A number of something, or a place in a list. */
export const count = z.number().int().nonnegative();
/** Seconds since 1970. */
export const unixTime = count;
