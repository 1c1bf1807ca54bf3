import { canBeSeen, inOrder, UNSEEN } from '../seen.ts';
import { z } from './zod.ts';

/** A display name of up to `most` characters in reading order. Names without visible characters are refused. */
export const visibleName = (most: number) => z.string().overwrite(inOrder).trim().min(1).max(most).refine(canBeSeen, UNSEEN);
