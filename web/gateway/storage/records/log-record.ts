import type { LogLevel } from '#shared/rpc/log-level.ts';

/** One line of the log. */
export interface LogRecord {
  /** Line number: later lines have higher ones. */
  seq: number;
  at: number;
  level: LogLevel;
  /** The part of the gateway that logged the line. */
  component: string;
  message: string;
  fields?: Record<string, unknown>;
}
