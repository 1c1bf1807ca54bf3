import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { connectGateway, type ConnectionOptions, requestGateway } from './connect-gateway.ts';
import { CommandError, toErrorLine } from './command-error.ts';
import { printLine, toPrintableJson } from './terminal-output.ts';

interface CallOptions extends ConnectionOptions {
  timeout: number;
  params?: string;
  json?: boolean;
  /** Print control characters unchanged. */
  raw?: boolean;
}

/** `perch gateway call METHOD`: prints the method's result. If the call is rejected, exits with 1 and prints code and message. */
export async function callMethod(method: string, { params, json = false, raw = false, ...options }: CallOptions): Promise<void> {
  const parsedParams = await parseParams(params ?? '{}');
  const end = performance.now() + options.timeout;
  const client = await connectGateway({ ...options, name: 'perch gateway call', timeoutMs: options.timeout });
  try {
    const payload = await requestGateway(client, method, parsedParams, end - performance.now());
    const indent = json ? undefined : 2;
    printLine(raw ? JSON.stringify(payload, null, indent) : toPrintableJson(payload, indent));
  } finally {
    client.close();
  }
}

/** Parses `--params`: JSON, `@file`, or `-` for standard input. */
async function parseParams(params: string): Promise<object> {
  const read = params === '-' ? await text(process.stdin) : params.startsWith('@') ? await readParamsFile(params.slice(1)) : params;
  let value: unknown;
  try {
    value = JSON.parse(read);
  } catch (error) {
    throw new CommandError(`--params is not valid JSON: ${toErrorLine(error).slice(0, 120)}`, 2, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new CommandError('--params must be a JSON object', 2);
  return value;
}

const readParamsFile = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`--params: ${toErrorLine(error)}`, 1, { cause: error });
  });
