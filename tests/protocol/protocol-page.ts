import { join } from 'node:path';
import { findLegacyResult } from '#shared/rpc/protocol-2-results.ts';
import { type Contract, isRepeatable } from '#shared/rpc/contract.ts';
import { ERROR_CODES, type ErrorCode } from '#shared/rpc/rpc-error.ts';
import { type EventName, events } from '#shared/rpc/events.ts';
import type { FieldDocs } from '#shared/rpc/json-type.ts';
import { PROTOCOL_LIMITS, MIN_PROTOCOL_VERSION, PROTOCOL_VERSION } from '#shared/rpc/limits.ts';
import { METHOD_SCOPES } from '#shared/rpc/method-scopes.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { formatSchemaType } from '#shared/rpc/type-text.ts';
import { readDocComments } from './doc-comments.ts';

/** Params that a method can be called with, as JSON. */
type ParamExamples = ReadonlyMap<string, Record<string, unknown>>;

const RPC = join(import.meta.dirname, '../../shared/rpc');

const ERROR_MEANINGS: Record<ErrorCode, string> = {
  AUTH_REQUIRED: 'The caller is not authenticated, the token is invalid, or the caller lacks the required scope.',
  NOT_FOUND: 'The requested object does not exist.',
  INVALID_PARAMS: 'A parameter is missing, unknown or invalid. The message names it.',
  RATE_LIMITED: 'Too many requests. Retry after `retryAfterMs`.',
  INTERNAL_ERROR:
    'The gateway or a service that it depends on failed. The message says what to do or contains an ID to look up in the log.',
  METHOD_NOT_FOUND: 'The method does not exist.',
  ALREADY_EXISTS: 'The object already exists, or the operation is already in progress.',
  ABORTED: 'The operation was aborted.',
  NOT_IMPLEMENTED: 'The method is not supported, or not in this version of the protocol.',
};

/** `docs/protocol.md`: every method and event, from their contracts and the comments there. */
export function createProtocolPage(examples: ParamExamples): string {
  const methodDocs = readDocComments(join(RPC, 'methods/index.ts'), 'contracts');
  const eventDocs = readDocComments(join(RPC, 'events.ts'), 'events');
  const byNamespace = Map.groupBy(Object.entries<Contract>(contracts), ([name]) => name.split('.')[0] ?? name);
  const names = [...byNamespace.keys()];
  return `${[
    '# Protocol reference',
    `Programs talk to the gateway by WebSocket RPC at \`ws://127.0.0.1:7333/ws\`. The current protocol is version ${PROTOCOL_VERSION}; version ${MIN_PROTOCOL_VERSION} is supported too. \`npm run docs\` generates this page from the contracts in [\`shared/rpc/methods\`](../shared/rpc/methods), and a unit test compares it with them. The conformance tests run every example, over an in-memory link and over a WebSocket through the bridge and a browser.`,
    `**Namespaces:** ${names.map((name) => `[${name}](#${name})`).join(' · ')} · [events](#events) · [errors](#errors)`,
    '## Frames',
    `Every message is one JSON object of up to ${PROTOCOL_LIMITS.maxPayload / 1024 / 1024} MiB. The server sends the event \`connect.challenge\` first; the first request must be [\`connect\`](#connect-1).`,
    `\`\`\`ts\n${FRAMES}\n\`\`\``,
    'The `id` is chosen by the client and returned with the response. `seq` counts the events of a connection from 1. If `retryable` is true, the same request may succeed later.',
    '## Conventions',
    [
      '- **Scopes.** Each method requires one scope. Devices have levels: `read`, `write` (includes `read`) or `admin` (includes both). API keys have a set of scopes: an area such as `chat` or `files`, the levels `read` and `write`, or both. `write` includes every area. The level that includes a method is in parentheses.',
      '- **Idempotency.** Methods marked as idempotent accept an `idempotencyKey` among their params. A request that is repeated with the same key within 5 minutes returns the first response.',
      '- **Params.** A param that the method does not declare is refused with `INVALID_PARAMS`; only `connect` ignores unknown params.',
      '- **Errors.** Every method can return `AUTH_REQUIRED`, `INVALID_PARAMS`, `RATE_LIMITED` and `INTERNAL_ERROR`. Other [errors](#errors) are listed with the method.',
      '- **Types** are written as in TypeScript. `integer 1–200 = 50` is an integer from 1 to 200 with the default 50.',
      '- **Times** are milliseconds since the Unix epoch unless stated otherwise.',
    ].join('\n'),
    ...[...byNamespace].flatMap(([name, methods]) => [
      `## ${name}`,
      ...methods.flatMap(([method, contract]) => formatMethod(method, contract, methodDocs.field(method), examples)),
    ]),
    '## Events',
    'By default a connection receives the events of the sessions in which it has started runs or that it has read. To receive all events, set `events: "all"` in `connect`.',
    ...(Object.keys(events) as EventName[]).map((name) => formatEvent(name, eventDocs.field(name))),
    '## Errors',
    `| code | meaning |\n| --- | --- |\n${ERROR_CODES.map((code) => `| \`${code}\` | ${ERROR_MEANINGS[code]} |`).join('\n')}`,
  ].join('\n\n')}\n`;
}

const FRAMES = [
  '// Request',
  '{ type: "req", id: string, method: string, params?: object }',
  '// Response',
  '{ type: "res", id: string, ok: true, payload: object }',
  '{ type: "res", id: string, ok: false, error: { code: string, message: string, details?: object, retryable?: boolean, retryAfterMs?: number } }',
  '// Event',
  '{ type: "event", event: string, seq: integer, payload: object }',
].join('\n');

const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

/** `Scope: \`chat\` (\`write\`)`. */
function formatScope(name: string, { scope: level, pairing = false }: Contract['policy']): string {
  const scope = name === 'connect' ? level : METHOD_SCOPES[name as keyof typeof METHOD_SCOPES];
  return `Scope: \`${scope}\`${scope === level ? '' : ` (\`${level}\`)`}${pairing ? ' or a pairing code' : ''}`;
}

function formatMethod(name: string, contract: Contract, comments: FieldDocs | undefined, examples: ParamExamples): string[] {
  const { params, result, docs, emits, fails, policy } = contract;
  const earlier = findLegacyResult(name);
  const notes = [
    formatScope(name, policy),
    ...(isRepeatable(policy) ? ['Idempotent'] : []),
    ...(policy.controlPlane ? ['Limited to 30 calls per minute'] : []),
    ...(policy.metered
      ? [policy.metered === 'unattended' ? 'Not available to API keys with limits' : 'Counts against the limits of an API key']
      : []),
    ...(emits.length > 0 ? [`Events: ${codes(emits)}`] : []),
    ...(fails.length > 0 ? [`Errors: ${codes(fails)}`] : []),
    ...(earlier
      ? [
          earlier.method === null
            ? `Not available in version ${MIN_PROTOCOL_VERSION}`
            : `Returns another result in version ${MIN_PROTOCOL_VERSION}`,
        ]
      : []),
  ];
  const example = examples.get(name);
  const frame = { type: 'req', id: '1', method: name, params: example };
  const types = `params: ${formatSchemaType(params, 'input', comments?.field('params'))}\nresult: ${formatSchemaType(result, 'output', comments?.field('result'))}`;
  return [
    `### ${name}`,
    docs,
    `${notes.join('. ')}.`,
    `\`\`\`ts\n${wrapComments(types)}\n\`\`\``,
    ...(example ? [`\`\`\`json\n${JSON.stringify(frame)}\n\`\`\``] : []),
  ];
}

function formatEvent(name: EventName, comments: FieldDocs | undefined): string {
  if (comments?.text === undefined) throw new Error(`${name} has no comment in shared/rpc/events.ts`);
  const terminal = name === 'chat.done' || name === 'chat.error' ? ' Every run ends with exactly one `chat.done` or `chat.error`.' : '';
  return `### \`${name}\`\n\n${comments.text}${terminal}\n\n\`\`\`ts\n${wrapComments(formatSchemaType(events[name], 'output', comments))}\n\`\`\``;
}

const WIDTH = 100;

/** Breaks comment lines between words. */
function wrapComments(text: string): string {
  return text.replaceAll(/^( *\/\/ )(.*)$/gm, (_, indent: string, comment: string) => {
    const lines = [''];
    for (const word of comment.split(' ')) {
      const line = lines.at(-1) ?? '';
      if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) lines.push(word);
      else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    }
    return lines.map((line) => indent + line).join('\n');
  });
}
