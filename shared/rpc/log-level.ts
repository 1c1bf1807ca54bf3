import { z } from './zod.ts';

/** How grave a line of the log is, the least grave first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const logLevel = z.enum(LOG_LEVELS);

/** Whether a line of `level` is to be seen where `least` is asked for. */
export const isAtLeast = (level: LogLevel, least: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

/** Lines that one reading of a log gives at the most. */
export const MAX_LOG_LINES = 2_000;
