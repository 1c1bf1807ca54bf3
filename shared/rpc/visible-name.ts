import { canBeSeen, inOrder, UNSEEN } from '../seen.ts';
import { z } from './zod.ts';

/** The name of something as a person gives it, of so many characters at most, in the order in which it reads: one that would leave an empty row is refused. */
export const visibleName = (most: number) => z.string().overwrite(inOrder).trim().min(1).max(most).refine(canBeSeen, UNSEEN);
