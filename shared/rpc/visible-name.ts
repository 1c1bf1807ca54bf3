import { canBeSeen, TURNS, UNSEEN } from '../seen.ts';
import { z } from './zod.ts';

/** The name of something as a person gives it, of so many characters at most, in the order in which it reads: one that would leave an empty row is refused. */
export const visibleName = (most: number) =>
  z
    .string()
    .overwrite((name) => name.replaceAll(TURNS, ''))
    .trim()
    .min(1)
    .max(most)
    .refine(canBeSeen, UNSEEN);
