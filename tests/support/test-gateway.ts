import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { GatewayClient } from '#shared/client/client.ts';
import { type Link, memoryPair } from '#shared/link/link.ts';
import { type Scope, SCOPES } from '#shared/rpc/contract.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import type { BrowserModels } from '../../web/gateway/providers/local-models/browser-models.ts';
import type { Bridge } from '../../web/gateway/ports/bridge-interface.ts';
import type { Clock } from '../../shared/async/clock.ts';
import { systemClock } from '../../shared/async/clock.ts';
import { type Environment, unknownEnvironment } from '../../web/gateway/ports/environment.ts';
import type { Fetch } from '../../web/gateway/ports/fetch.ts';
import { createGateway } from '../../web/gateway/gateway.ts';
import type { Gateway, GatewayOptions } from '../../web/gateway/gateway-options.ts';
import type { SyncPort } from '../../web/gateway/sync/sync-port.ts';
import type { Vault } from '../../web/gateway/storage/vault-interface.ts';
import { loadLazyModules } from './load-lazy-modules.ts';
import { openVault, acquireEpoch } from '../../web/gateway/storage/open-vault.ts';
import { auditErrorCodes } from './error-audit.ts';
import { checkConformance, throwOnMismatches } from './openai-shapes/conformance-check.ts';
import { readContext, removeContext } from './model-context.ts';
import { getBodyText } from './fake-provider-server.ts';
import { recordEvents } from './record-events.ts';

export interface ModelCall {
  /** The request, its messages without the context block of each turn. */
  body: { model: string; messages: { role: string; content: unknown; tool_calls?: unknown[] }[]; tools?: unknown[]; temperature?: number };
  /** The newest context block. */
  context: string;
  signal: AbortSignal;
  headers: Readonly<Record<string, string>>;
}

/** A step of a scripted model's response: a piece of text or reasoning, tool calls, an error; `wait` delays it. */
export type Say =
  | string
  | { think: string }
  | { tool: string; args: unknown; id?: string }
  | { wait: Promise<unknown> }
  | { status: number; body: string }
  | { cut: true };
export type ModelScript = (call: ModelCall, count: number) => readonly Say[];

/** Answers every call with the same deltas. */
export const createScript =
  (steps: readonly Say[]): ModelScript =>
  () =>
    steps;

const listModels = (): Response => Response.json({ object: 'list', data: [{ id: 'scripted', object: 'model' }] });

/** An OpenAI-compatible model server behind the core's `Fetch`. `list`: its response to requests for models; `usage`: what it reports. */
export function createScriptedModel(answer: ModelScript, list = listModels, usage?: object): { fetch: Fetch; calls: ModelCall[] } {
  const calls: ModelCall[] = [];
  const fetch: Fetch = async (url, { signal, headers = {}, ...sent }) => {
    if (url.endsWith('/models')) return list();
    const body = JSON.parse(getBodyText(sent) ?? '{}') as ModelCall['body'];
    // Requests for embeddings have no messages.
    const { messages = [] } = body as Partial<ModelCall['body']>;
    const call: ModelCall = { body: { ...body, messages: removeContext(messages) }, context: readContext(messages), signal, headers };
    calls.push(call);
    const steps = answer(call, calls.length);
    const [first] = steps;
    if (typeof first === 'object' && 'status' in first) return new Response(first.body, { status: first.status });
    return new Response(streamSteps(steps, signal, usage), { headers: { 'content-type': 'text/event-stream' } });
  };
  return { fetch, calls };
}

function streamSteps(steps: readonly Say[], signal: AbortSignal, usage?: object): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const line = (value: unknown): Uint8Array => encoder.encode(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  const chunk = (delta: unknown, finish: string | null = null): Uint8Array =>
    line({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  return new ReadableStream({
    async start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
      let tools = 0;
      try {
        for (const step of steps) {
          if (typeof step === 'string') controller.enqueue(chunk({ content: step }));
          else if ('think' in step) controller.enqueue(chunk({ reasoning_content: step.think }));
          else if ('wait' in step) await step.wait;
          else if ('cut' in step) return controller.close();
          else if ('tool' in step) {
            const call = {
              index: tools,
              id: step.id ?? `call_${tools}`,
              type: 'function',
              function: { name: step.tool, arguments: JSON.stringify(step.args) },
            };
            controller.enqueue(chunk({ tool_calls: [call] }));
            tools++;
          }
        }
        controller.enqueue(chunk({}, tools > 0 ? 'tool_calls' : 'stop'));
        if (usage) controller.enqueue(line({ choices: [], usage }));
        controller.enqueue(line('[DONE]'));
        controller.close();
      } catch {
        // Aborted in the meantime.
      }
    },
  });
}

export interface TestGateway {
  gateway: Gateway;
  vault: Vault;
  /** Calls that the scripted model received. */
  calls: ModelCall[];
  /** Internal errors that the gateway logged; tests can check that there are none. */
  faults: unknown[];
  /** A raw link to the gateway, like that of a socket behind the bridge. */
  link(options?: { scopes?: readonly Scope[]; socket?: boolean; principal?: string; pairingCode?: string }): Link<string>;
  /** A connected client that subscribes to everything, and the events that it received. */
  client(options?: { events?: 'all' | 'own'; scopes?: readonly Scope[] }): Promise<{ client: GatewayClient; events: EventFrame[] }>;
  [Symbol.asyncDispose](): Promise<void>;
}

let databases = 0;

/** The complete core in Node: memory links, fake-indexeddb, and a scripted model as the default provider `test`. */
export async function createTestGateway(
  options: {
    model?: ModelScript;
    /** Usage that the scripted model reports; it is counted by default. */
    usage?: object;
    /** Handles outgoing requests instead of the scripted model. */
    fetch?: Fetch;
    clock?: Clock;
    silenceMs?: number;
    vault?: Vault;
    indexedDB?: IDBFactory;
    name?: string;
    useGuide?: boolean;
    /** Whether the model generates titles of chats; a script then answers those calls too. */
    titles?: boolean;
    sync?: SyncPort;
    bridge?: Bridge;
    browserModels?: BrowserModels;
    /** Opens the stored index of a workspace's memory; default: only in memory. */
    memoryStore?: GatewayOptions['memoryStore'];
    environment?: Partial<Environment>;
    models?: () => Response;
    changed?: () => void;
  } = {},
): Promise<TestGateway> {
  const clock = options.clock ?? systemClock;
  // A fake clock does not wait for code loaded on demand.
  if (options.clock) await loadLazyModules();
  const name = options.name ?? `test-${++databases}`;
  if (!options.vault) globalThis.indexedDB = options.indexedDB ?? new IDBFactory();
  const vault = options.vault ?? (await openVault({ name, epoch: await acquireEpoch(name), clock, onclosed: () => {} }));
  const model = createScriptedModel(options.model ?? createScript(['Hello', ' there']), options.models, options.usage);
  const faults: unknown[] = [];
  const gateway = await createGateway({
    vault,
    clock,
    fetch: options.fetch ?? model.fetch,
    version: 'test',
    localServers: [],
    log: (_id, error) => faults.push(error),
    ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
    ...(options.sync ? { sync: options.sync } : {}),
    ...(options.bridge ? { bridge: options.bridge } : {}),
    ...(options.browserModels ? { browserModels: options.browserModels } : {}),
    ...(options.memoryStore ? { memoryStore: options.memoryStore } : {}),
    ...(options.changed ? { changed: options.changed } : {}),
    environment: { ...unknownEnvironment, ...options.environment },
  });
  const misfits = new Set<string>();
  const answer = gateway.fetch;
  gateway.fetch = async (request, principal, exchange) => checkConformance(request, await answer(request, principal, exchange), misfits);
  const undeclared = new Set<string>();
  const link: TestGateway['link'] = ({ scopes = SCOPES, socket = false, principal = 'owner', ...rest } = {}) => {
    const [ours, theirs] = memoryPair<string>();
    gateway.accept(theirs, { principal, scopes, challenged: false, socket, ...rest });
    return auditErrorCodes(ours, undeclared);
  };
  const client: TestGateway['client'] = async ({ events: subscription = 'all', scopes = SCOPES } = {}) => {
    const events: EventFrame[] = [];
    const connected = await GatewayClient.connect(recordEvents(link({ scopes }), events), {
      params: { clientName: 'test', events: subscription },
    });
    return { client: connected, events };
  };
  if (!options.useGuide) {
    const { client: setup } = await client();
    await setup.call('config.patch', {
      patch: {
        providers: { test: { baseUrl: 'http://model.test/v1' } },
        chat: { model: 'test/scripted', titles: options.titles ?? false },
      },
    });
    setup.close();
  }
  return {
    gateway,
    vault,
    calls: model.calls,
    faults,
    link,
    client,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      throwOnMismatches(misfits);
      if (undeclared.size > 0) throw new Error(`their contracts do not have these codes: ${[...undeclared].join(', ')}`);
    },
  };
}

/** Resolves when `condition` holds; fails after `ms`. */
export async function waitFor(condition: () => boolean | Promise<boolean>, label = 'the condition', ms = 30_000): Promise<void> {
  const startedAt = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - startedAt;
    if (waited > ms) throw new Error(`${label} did not come about in ${ms / 1000} s`);
    // Waits one turn first, enough for memory links, then longer each time: the gateway's rate limit refuses polling without a pause.
    await new Promise((resolve) => (waited < 10 ? setImmediate(resolve) : setTimeout(resolve, Math.min(110, waited / 4))));
  }
}
