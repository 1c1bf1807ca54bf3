import { earlierShape } from '#shared/rpc/compat.ts';
import { type Contract, isRepeatable } from '#shared/rpc/contract.ts';
import { ERROR_CODES, type ErrorCode } from '#shared/rpc/errors.ts';
import { CHAT_EVENTS, type EventName, events } from '#shared/rpc/events.ts';
import { LIMITS, MIN_PROTOCOL, PROTOCOL } from '#shared/rpc/limits.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { typeText } from '#shared/rpc/type-text.ts';

/** Params that a method can be called with, as JSON. */
export type Examples = ReadonlyMap<string, Record<string, unknown>>;

const MEANING: Record<ErrorCode, string> = {
  AUTH_REQUIRED: 'not authenticated, a wrong token, or a scope that the caller does not have',
  NOT_FOUND: 'what is named does not exist',
  INVALID_PARAMS: 'a parameter is missing, unknown or wrong; the message begins with its name',
  RATE_LIMITED: 'too many requests; `retryAfterMs` says when again',
  INTERNAL_ERROR: 'a fault of the gateway or of what it relies on; the message says what can be done, or has an id that the log explains',
  METHOD_NOT_FOUND: 'there is no such method',
  ALREADY_EXISTS: 'what is to be made exists',
  ABORTED: 'it was aborted',
  NOT_IMPLEMENTED: 'the method is registered, and not implemented',
};

/** `docs/protocol.md`: every method and event, from their contracts. */
export function protocolPage(examples: Examples): string {
  const byNamespace = Map.groupBy(Object.entries<Contract>(contracts), ([name]) => name.split('.')[0] ?? name);
  const names = [...byNamespace.keys()];
  return `${[
    '# The protocol',
    `WebSocket RPC, version ${PROTOCOL} (version ${MIN_PROTOCOL} is answered too). This page is made from the contracts in \`shared/rpc/methods\`: \`npm run docs\` writes it, and a test compares. Each example is run by the conformance tests, over a memory link and over a WebSocket through bridge and browser.`,
    `A request is \`{"type": "req", "id", "method", "params"}\`; its answer \`{"type": "res", "id", "ok", "payload"}\` or, where \`ok\` is false, \`{…, "error": {code, message, details?, retryable?, retryAfterMs?}}\`. Events are \`{"type": "event", "event", "seq", "payload"}\`, \`seq\` counting from 1 on each connection. The first request is \`connect\`. A message has ${LIMITS.maxPayload / 1024 / 1024} MiB at the most.`,
    `Methods need a scope: \`read\`, \`write\` (which has \`read\`) or \`admin\` (which has both). Where it says *repeatable*, \`idempotencyKey\` may be given among the params: repeats within 5 minutes get the first answer. What is not a param of a method is refused, by name. Any method may be answered with \`AUTH_REQUIRED\`, \`INVALID_PARAMS\`, \`RATE_LIMITED\` or \`INTERNAL_ERROR\`; what else it may fail with stands beside it. Types are written as in TypeScript; \`integer 1–200 = 50\` has bounds and a default.`,
    `**Namespaces:** ${names.map((name) => `[${name}](#${name})`).join(' · ')} · [events](#events) · [errors](#errors)`,
    ...[...byNamespace].flatMap(([name, methods]) => [`## ${name}`, ...methods.flatMap((method) => methodText(...method, examples))]),
    '## Events',
    'A connection gets the events of sessions in which it started runs, or that it has read; with `events: "all"` in `connect` it gets all of them.',
    ...(Object.keys(events) as EventName[]).map(eventText),
    '## Errors',
    ERROR_CODES.map((code) => `- \`${code}\`: ${MEANING[code]}`).join('\n'),
  ].join('\n\n')}\n`;
}

function methodText(name: string, contract: Contract, examples: Examples): string[] {
  const { params, result, docs, emits, fails, policy } = contract;
  const notes = [
    `Scope \`${policy.scope}\``,
    ...(isRepeatable(policy) ? ['repeatable'] : []),
    ...(policy.pairing ? ['or a pairing code'] : []),
    ...(policy.controlPlane ? ['30 calls a minute'] : []),
    ...(policy.metered ? [policy.metered === 'unattended' ? 'not for keys with limits' : 'a key’s limits count'] : []),
    ...(emits.length > 0 ? [`causes ${emits.map((event) => `\`${event}\``).join(', ')}`] : []),
  ];
  if (fails.length > 0) notes.push(`may fail with ${fails.map((code) => `\`${code}\``).join(', ')}`);
  const earlier = earlierShape(name);
  if (earlier) notes.push(earlier.method === null ? `not part of version ${MIN_PROTOCOL}` : `another shape at version ${MIN_PROTOCOL}`);
  const example = examples.get(name);
  const frame = { type: 'req', id: '1', method: name, params: example };
  return [
    `### ${name}`,
    docs,
    `${notes.join('; ')}.`,
    `\`\`\`ts\nparams: ${typeText(params, 'input')}\nresult: ${typeText(result, 'output')}\n\`\`\``,
    ...(example ? [`\`\`\`json\n${JSON.stringify(frame)}\n\`\`\``] : []),
  ];
}

function eventText(name: EventName): string {
  const terminal = name === 'chat.done' || name === 'chat.error' ? ' Ends a run: each has exactly one.' : '';
  const chat = (CHAT_EVENTS as readonly string[]).includes(name) ? ` Of a chat run.${terminal}` : '';
  return `### \`${name}\`\n\n${chat ? `${chat.trim()}\n\n` : ''}\`\`\`ts\n${typeText(events[name], 'output')}\n\`\`\``;
}
