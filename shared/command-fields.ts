import { z } from './rpc/zod.ts';

/** Maximum timeout of a command. */
export const MAX_COMMAND_MS = 24 * 3_600_000;

// The kernel ends a text at NUL: the displayed text would differ from what runs.
const hasNoNul = (text: string): boolean => !text.includes('\0');

export const commandName = z.string().min(1).max(4096).refine(hasNoNul, 'must not contain NUL characters');
export const commandArgs = z.array(z.string().max(32_768).refine(hasNoNul, 'must not contain NUL characters')).max(1000);
export const commandDir = z.string().min(1).max(4096).refine(hasNoNul, 'must not contain NUL characters');
