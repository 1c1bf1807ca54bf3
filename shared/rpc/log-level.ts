import { z } from './zod.ts';

/** Log levels, lowest first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const logLevel = z.enum(LOG_LEVELS);

/** Returns whether a line of `level` passes a filter of at least `least`. */
export const isAtLeast = (level: LogLevel, least: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

/** Maximum number of lines that one call returns. */
export const MAX_LOG_LINES = 2_000;
