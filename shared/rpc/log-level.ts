import { z } from './zod.ts';

/** Log levels, lowest first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const logLevel = z.enum(LOG_LEVELS);

/** Returns whether a line of `level` passes a filter of at least `minLevel`. */
export const isAtLeast = (level: LogLevel, minLevel: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minLevel);

/** Maximum number of lines that one call returns. */
export const MAX_LOG_LINES = 2_000;
