import type { z } from '#shared/rpc/zod.ts';
import { findPayloadProblem } from '#shared/sync/payload.ts';
import { type SyncRecord, syncRecord } from '#shared/sync/record.ts';
import { InvalidBackupError, parseJsonSafely } from './backup-format.ts';

/** Parses a line of the entry `name`. Throws `InvalidBackupError` if it is not a record that a backup may contain. */
export function parseRecordLine(line: string, name: string): SyncRecord {
  const subject = `a record in ${name}`;
  const { key, payload, ...record } = parseWithSchema(syncRecord, parseJsonSafely(line), subject);
  if (record.deleted || payload === null) throw new InvalidBackupError(`${subject} is marked as deleted`);
  const value = parseJsonSafely(payload);
  if (value === undefined) throw new InvalidBackupError(`${subject} is not JSON`);
  const problem = findPayloadProblem(record.store, key, value);
  if (problem !== undefined) throw new InvalidBackupError(`${subject} ${problem}`);
  // The journal stores well-formed Unicode.
  return { ...record, key: key.toWellFormed(), payload: payload.toWellFormed() };
}

/** Returns a value that matches a schema; undefined if the text was not JSON. Throws `InvalidBackupError` with the first problem. */
export function parseWithSchema<T>(schema: z.ZodType<T>, value: unknown, subject: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  if (value === undefined) throw new InvalidBackupError(`${subject} can’t be read (not valid JSON)`);
  const [issue] = error.issues;
  throw new InvalidBackupError(
    `${subject} can’t be read (${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ').slice(0, 200)})`,
  );
}
