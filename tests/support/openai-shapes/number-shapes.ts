import { z } from '#shared/rpc/zod.ts';

/** A count, or an index of a list. */
export const count = z.number().int().nonnegative();
/** Seconds since 1970. */
export const unixTime = count;
