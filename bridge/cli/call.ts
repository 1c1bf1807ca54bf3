import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { connect, type ConnectionOptions, requestOf } from './connect.ts';
import { CommandError, lineOf } from './errors.ts';
import { say, toPrintableJson } from './output.ts';

export interface CallOptions extends ConnectionOptions {
  timeout: number;
  params?: string;
  json?: boolean;
  /** Print control characters unchanged. */
  raw?: boolean;
}

/** `perch gateway call METHOD`: prints the method's result. If the call is rejected, exits with 1 and prints code and message. */
export async function callMethod(method: string, { params, json = false, raw = false, ...options }: CallOptions): Promise<void> {
  const given = await paramsOf(params ?? '{}');
  const end = performance.now() + options.timeout;
  const client = await connect({ ...options, name: 'perch gateway call', timeoutMs: options.timeout });
  try {
    const payload = await requestOf(client, method, given, end - performance.now());
    const indent = json ? undefined : 2;
    say(raw ? JSON.stringify(payload, null, indent) : toPrintableJson(payload, indent));
  } finally {
    client.close();
  }
}

/** Parses `--params`: JSON, `@file`, or `-` for standard input. */
async function paramsOf(given: string): Promise<object> {
  const read = given === '-' ? await text(process.stdin) : given.startsWith('@') ? await fileText(given.slice(1)) : given;
  let value: unknown;
  try {
    value = JSON.parse(read);
  } catch (error) {
    throw new CommandError(`--params is not valid JSON: ${lineOf(error).slice(0, 120)}`, 2, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new CommandError('--params must be a JSON object', 2);
  return value;
}

const fileText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`--params: ${lineOf(error)}`, 1, { cause: error });
  });
