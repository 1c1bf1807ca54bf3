import { type ProviderKind, providerKind } from '../../shared/rpc/record-schemas.ts';
import { systemClock } from '../../shared/async/clock.ts';
import type { Fetch } from '../../web/gateway/ports/fetch.ts';
import { GuideProvider } from '../../web/gateway/agent/guide/guide.ts';
import { getProviderKind } from '../../web/gateway/config/sections/provider-kinds.ts';
import type { ModelEvent, ModelRequest } from '../../web/gateway/providers/provider.ts';
import { Providers } from '../../web/gateway/providers/providers.ts';
import { PICTURE_BYTES, startScriptedServer, type ScriptedServer, toFormat, UPSTREAM_ERROR } from './scripted-server.ts';

const FEATURES = ['Stream', 'Tools', 'Parallel tools', 'Images', 'Reasoning', 'Usage', 'Errors', 'Caching'] as const;
type FeatureRow = Record<(typeof FEATURES)[number], string>;

const sources = () => ({ memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) });
const fetchFromServer: Fetch = (url, { method = 'GET', headers = {}, body, bytes, signal }) => {
  const sent = bytes ?? body;
  return fetch(url, { method, headers, signal, ...(sent === undefined ? {} : { body: sent }) });
};

const FEATURE_REQUEST: Omit<ModelRequest, 'model'> = {
  messages: [
    { role: 'system', content: 'Stable instructions. '.repeat(600) },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image', mimeType: 'image/png', data: PICTURE_BYTES },
      ],
    },
    { role: 'assistant', content: '', toolCalls: [{ id: 'call_abc', tool: 'search', args: { query: 'before' } }] },
    { role: 'tool', content: '{"found":"earlier result"}', toolCallId: 'call_abc', name: 'search' },
  ],
  tools: [
    { name: 'search', description: 'Searches', schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] } },
  ],
  cacheKey: 'chat-1',
};

/** Sends a request to a kind's adapter. The server goes on when the first text has come. */
async function sendFeatureRequest(
  kind: ProviderKind,
  server: ScriptedServer,
): Promise<{ events: ModelEvent[]; error: string | undefined; streams: boolean }> {
  const guide = new GuideProvider({ clock: systemClock, sources, paceMs: 0 });
  const all = new Providers({ guide, fetch: fetchFromServer, clock: systemClock, localServers: [] });
  all.configure([{ id: 'v', name: getProviderKind(kind).name, kind, apiKey: 'sk-1', baseUrl: server.url }]);
  // OpenRouter caches on request for some vendors' models alone.
  const { provider, model } = await all.resolve(kind === 'openrouter' ? 'v/anthropic/some-model' : 'v/some-model');
  const events: ModelEvent[] = [];
  let streams = false;
  try {
    for await (const event of provider.stream({ ...FEATURE_REQUEST, model }, AbortSignal.timeout(10_000))) {
      events.push(event);
      if (event.type !== 'text' || streams) continue;
      streams = event.text === 'Hel';
      server.continueReply();
    }
    return { events, error: undefined, streams };
  } catch (error) {
    return { events, error: error instanceof Error ? error.message : String(error), streams };
  }
}

const formatFlag = (holds: boolean): string => (holds ? 'yes' : 'no');

/** The features of a kind, from its adapter's answers and requests. */
async function measureKind(kind: ProviderKind): Promise<FeatureRow> {
  await using server = await startScriptedServer(toFormat(kind));
  const { events, streams } = await sendFeatureRequest(kind, server);
  const sent = JSON.stringify(server.bodies[0]);
  const text = (type: 'text' | 'reasoning'): string => events.map((event) => (event.type === type ? event.text : '')).join('');
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [`${event.call.tool} ${String(event.call.args['query'])}`] : []));
  const usage = events.find((event) => event.type === 'usage')?.usage;
  const ends = events.filter(({ type }) => type === 'finish').length;
  const offersTools = sent.includes('"search"') && sent.includes('earlier result');
  const images = [sent.includes(PICTURE_BYTES) ? 'input' : '', events.some(({ type }) => type === 'picture') ? 'output' : ''].filter(
    Boolean,
  );
  const requested = ['cache_control', 'prompt_cache_key', 'session_id'].filter((field) => sent.includes(`"${field}"`));
  const cached = usage?.cacheReadTokens === 30 ? ['counted'] : [];

  server.failReply = true;
  const failed = await sendFeatureRequest(kind, server);
  const hasPartialText = failed.events.some((event) => event.type === 'text' && event.text === 'Hel');
  const isFailure =
    failed.error?.includes(UPSTREAM_ERROR) === true && hasPartialText && !failed.events.some(({ type }) => type === 'finish');
  return {
    Stream: formatFlag(streams && text('text') === 'Hello' && ends === 1),
    Tools: formatFlag(offersTools && calls[0] === 'search alpha'),
    'Parallel tools': formatFlag(calls.join() === 'search alpha,search beta'),
    Images: images.join(', ') || 'no',
    Reasoning: formatFlag(text('reasoning') === 'plan'),
    Usage: formatFlag(usage?.inputTokens === 40 && usage.outputTokens === 9),
    Errors: formatFlag(isFailure),
    Caching: [...requested.map((field) => `\`${field}\``), ...cached].join(', ') || 'no',
  };
}

const toTableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** `docs/providers.md`: provider kinds and what holds for each, measured with a local server of that kind. */
export async function createProvidersPage(): Promise<string> {
  const rows: string[] = [];
  for (const kind of providerKind.options) {
    const row = await measureKind(kind);
    rows.push(toTableRow([`${getProviderKind(kind).name} (\`${kind}\`)`, ...FEATURES.map((feature) => row[feature])]));
  }
  return `# Providers

What each kind of provider supports. \`npm run docs\` generates this page: it sends a request through every adapter to a local scripted server that speaks that kind's format. A unit test compares the page with the result, so each cell is tested.

${toTableRow(['Provider', ...FEATURES])}
${toTableRow(['---', ...FEATURES.map(() => '---')])}
${rows.join('\n')}

- **Stream.** The first text arrives before the server sends the rest. A reply ends exactly once.
- **Tools.** Tools and earlier results are sent, and a call comes back with its arguments.
- **Parallel tools.** Two calls in one reply stay apart.
- **Images.** \`input\`: pictures in messages are sent. \`output\`: pictures that the model makes are part of the reply.
- **Reasoning.** Thoughts are kept apart from the text.
- **Usage.** Tokens are those that the server reports.
- **Errors.** An error in the middle of a reply ends the run with the server's message. The partial text is kept.
- **Caching.** Fields that request prompt caching, for models that need them. \`counted\`: cached tokens are counted.

What a model supports may be less than what its provider does. Unusual streams that are read are listed in [decision 0106](decisions/0106-tolerant-streams.md).
`;
}
