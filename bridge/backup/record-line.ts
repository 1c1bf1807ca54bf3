import type { z } from '#shared/rpc/zod.ts';
import { payloadProblem } from '#shared/sync/payload.ts';
import { type SyncRecord, syncRecord } from '#shared/sync/record.ts';
import { BackupUnusable, parsedJson } from './format.ts';

/** Parses a line of the entry `name`. Throws `BackupUnusable` if it is not a record that a backup may contain. */
export function recordOf(line: string, name: string): SyncRecord {
  const what = `a record in ${name}`;
  const { key, payload, ...record } = checked(syncRecord, parsedJson(line), what);
  if (record.deleted || payload === null) throw new BackupUnusable(`${what} is marked as deleted`);
  const value = parsedJson(payload);
  if (value === undefined) throw new BackupUnusable(`${what} is not JSON`);
  const problem = payloadProblem(record.store, key, value);
  if (problem !== undefined) throw new BackupUnusable(`${what} ${problem}`);
  // The journal stores well-formed Unicode.
  return { ...record, key: key.toWellFormed(), payload: payload.toWellFormed() };
}

/** Returns a value that matches a schema; undefined if the text was not JSON. Throws `BackupUnusable` with the first problem. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  if (value === undefined) throw new BackupUnusable(`${what} can’t be read (not valid JSON)`);
  const [issue] = error.issues;
  throw new BackupUnusable(`${what} can’t be read (${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ').slice(0, 200)})`);
}
