import type { z } from '#shared/rpc/zod.ts';
import { payloadProblem } from '#shared/sync/payload.ts';
import { type SyncRecord, syncRecord } from '#shared/sync/record.ts';
import { BackupUnusable, parsedJson } from './format.ts';

/** The record of a line in the entry `name`. Throws `BackupUnusable` where it is none that a backup may hold. */
export function recordOf(line: string, name: string): SyncRecord {
  const what = `a record in ${name}`;
  const { key, payload, ...record } = checked(syncRecord, parsedJson(line), what);
  if (record.deleted || payload === null) throw new BackupUnusable(`${what} is marked as deleted`);
  const value = parsedJson(payload);
  if (value === undefined) throw new BackupUnusable(`${what} is not JSON`);
  const problem = payloadProblem(record.store, key, value);
  if (problem !== undefined) throw new BackupUnusable(`${what} ${problem}`);
  // As the journal keeps texts.
  return { ...record, key: key.toWellFormed(), payload: payload.toWellFormed() };
}

/** A value that a schema accepts; undefined where the text was no JSON. Throws `BackupUnusable`, which names the first thing that is wrong. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  if (value === undefined) throw new BackupUnusable(`${what} can’t be read (not valid JSON)`);
  const [issue] = error.issues;
  throw new BackupUnusable(`${what} can’t be read (${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ').slice(0, 200)})`);
}
