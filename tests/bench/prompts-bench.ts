import { toModelEntry, withCost } from '../../web/gateway/providers/model-entry.ts';
import { findModel } from '../../web/gateway/providers/model-table.ts';
import { createListedModel } from '../../web/gateway/providers/provider.ts';
import { countTokens } from '../../web/gateway/providers/tokens/count-tokens.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { createTestGateway } from '../support/test-gateway.ts';
import { readContext, removeContext } from '../support/model-context.ts';
import { getLongTermMemory } from '../support/long-term-memory.ts';
import { createFakeServer, createStreamResponse, toUnnamedEvents } from '../support/fake-provider-server.ts';
import { toMinBar, toMaxBar, type Figure } from './figures.ts';

const MODEL = 'openai/gpt-5';
const TURN_COUNT = 20;
const MINUTES_PER_TURN = 2;
const QUESTION_TOKENS = 60;
const REPLY_TOKENS = 250;
/** System message of an agent without instructions in earlier builds. */
const FORMER_INSTRUCTIONS = 'You are a helpful assistant. Answer clearly and briefly, please.';
const PRICED_MODELS = [
  { vendor: 'anthropic', model: 'claude-sonnet-5', isMarked: true },
  { vendor: 'openai', model: 'gpt-6-sol', isMarked: false },
] as const;

interface PromptMessage {
  role: string;
  content: string;
}

/** A request in the order in which a model reads its parts, as text. */
interface PromptRequest {
  text: string;
  context: string;
}

/** Tokens of a request, and those that the provider has cached from the previous request. */
interface TokenCounts {
  input: number;
  cached: number;
}

/** Share of a chat's prompts that a provider can read from its cache, and the saving (NOTES.md, "Prompts"). */
export async function benchPrompts(): Promise<Figure[]> {
  const plain = await recordChat([]);
  const recalling = await recordChat(MEMORIES);
  const [now, before] = [await countCached(plain.now, plain.replies), await countCached(plain.before, plain.replies)];
  const share = Math.min(...now.slice(1).map(({ input, cached }) => (100 * cached) / input));
  const formerShare = Math.min(...before.slice(1).map(({ input, cached }) => (100 * cached) / input));
  const [context, withRecall] = [await countContexts(plain.now), await countContexts(recalling.now)];
  const recalls = recalling.now.filter(({ context: text }) => text.includes('recalled memory')).length;
  return [
    {
      ...{ what: 'cacheable from the second request on, least of 19', unit: '%', ours: share, bar: toMinBar(share, 95, '%') },
      floor: { name: 'before', value: formerShare },
    },
    { what: 'context block without recall, most', unit: 'tokens', ours: context, bar: toMaxBar(context, 120, 'tokens') },
    {
      ...{ what: 'context block with recall, most', unit: 'tokens', ours: withRecall, bar: toMaxBar(withRecall, 400, 'tokens') },
      floor: { name: 'recalls', value: recalls },
    },
    toFigure('input of 20 requests', 'tokens', now, before, ({ input }) => input),
    toFigure('  not cacheable', 'tokens', now, before, ({ input, cached }) => input - cached),
    ...PRICED_MODELS.map(({ vendor, model, isMarked }): Figure => {
      const entry = toModelEntry(vendor, createListedModel(model), findModel(vendor, model), false);
      const price = (each: TokenCounts, isCached: boolean): number => {
        const cache = isCached ? { cacheReadTokens: each.cached, ...(isMarked ? { cacheWriteTokens: each.input - each.cached } : {}) } : {};
        const usage = { inputTokens: each.input, outputTokens: REPLY_TOKENS, totalTokens: each.input + REPLY_TOKENS, ...cache };
        return withCost(usage, entry).cost ?? Number.NaN;
      };
      // Without cache marks, like earlier builds: Anthropic cached nothing, and OpenAI the prefix that it detected.
      const sum = (all: readonly TokenCounts[], isCached: boolean): number =>
        all.reduce((cents, each) => cents + 100 * price(each, isCached), 0);
      const [cost, former] = [sum(now, true), sum(before, !isMarked)];
      return { what: `cost of the chat, ${model}`, unit: '¢', ours: cost, floor: { name: 'before', value: former }, ratio: cost / former };
    }),
  ];
}

function toFigure(what: string, unit: string, now: TokenCounts[], before: TokenCounts[], count: (each: TokenCounts) => number): Figure {
  const [ours, value] = [now, before].map((all) => all.reduce((sum, each) => sum + count(each), 0)) as [number, number];
  return { what, unit, ours, floor: { name: 'before', value }, ratio: ours / value };
}

/** Runs the fixed chat in a gateway with the default agent and tools. `before`: the same chat as earlier builds sent it. */
async function recordChat(memories: readonly string[]): Promise<{ now: PromptRequest[]; before: PromptRequest[]; replies: string[] }> {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 9, 30));
  const replies: string[] = [];
  for (let turn = 0; turn < TURN_COUNT; turn++) replies.push(await extendText(`Reply ${turn + 1}.`, REPLY_TOKENS));
  const { fetch, asked } = createFakeServer(({ method, body }) => {
    if (method === 'GET') return Response.json({ data: [{ id: 'm' }] });
    const turn = (body as { messages: PromptMessage[] }).messages.filter(({ role }) => role === 'assistant').length;
    return createStreamResponse(toUnnamedEvents(toChunk(replies[turn] ?? '')));
  });
  await using gateway = await createTestGateway({ fetch, clock });
  const { client } = await gateway.client();
  const providers = { up: { kind: 'openai-compatible', baseUrl: 'http://up.test/v1' } };
  await client.call('config.patch', { patch: { providers, chat: { model: 'up/m', titles: false, timeZone: 'Europe/Berlin' } } });
  await getLongTermMemory(gateway.vault).add(memories.map((text) => ({ text, category: 'fact' as const, createdAt: 0 })));
  asked.length = 0;
  for (let turn = 0; turn < TURN_COUNT; turn++) {
    const question = QUESTIONS[turn % QUESTIONS.length] ?? '';
    // A short question matches more memories.
    const message = memories.length > 0 ? question.slice(0, question.indexOf('?') + 1) : await extendText(question, QUESTION_TOKENS);
    await client.call('chat.send', { message });
    clock.advance(MINUTES_PER_TURN * 60_000);
  }
  const bodies = asked.filter(({ method }) => method === 'POST').map(({ body }) => body as { tools: object[]; messages: PromptMessage[] });
  if (bodies.length !== TURN_COUNT) throw new Error(`The chat took ${bodies.length} requests instead of ${TURN_COUNT}.`);
  const catalog = (await client.call('tools.catalog', {})).tools.map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, description, parameters: schema },
  }));
  return {
    replies,
    now: bodies.map(({ tools, messages }) => toRequest(tools, messages)),
    before: bodies.map(({ messages }) => {
      const [time = ''] = readContext(messages).split('\n');
      const system = { role: 'system', content: `${FORMER_INSTRUCTIONS}\n\n${time}` };
      return toRequest(catalog, [system, ...removeContext(messages).filter(({ role }) => role !== 'system')]);
    }),
  };
}

const toChunk = (content: string): object => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }],
});

const toRequest = (tools: readonly object[], messages: PromptMessage[]): PromptRequest => ({
  text: [JSON.stringify(tools), ...messages.map(toText)].join('\n'),
  context: readContext(messages),
});

const toText = ({ role, content }: PromptMessage): string => JSON.stringify({ role, content });

/** Cacheable: the common prefix with the previous request and its reply. */
async function countCached(requests: readonly PromptRequest[], replies: readonly string[]): Promise<TokenCounts[]> {
  const counts: TokenCounts[] = [];
  for (const [index, { text }] of requests.entries()) {
    const before = requests[index - 1];
    const previousText = before ? `${before.text}\n${toText({ role: 'assistant', content: replies[index - 1] ?? '' })}` : '';
    let end = 0;
    while (end < previousText.length && previousText[end] === text[end]) end++;
    counts.push({ input: await countTokens(text, MODEL), cached: await countTokens(text.slice(0, end), MODEL) });
  }
  return counts;
}

async function countContexts(requests: readonly PromptRequest[]): Promise<number> {
  const counts = await Promise.all(requests.map(({ context }) => countTokens(context, MODEL)));
  // The two lines around it.
  return (
    Math.max(...counts) + (await countTokens('[context 12345678: added by Perch, not by the user]\n[end of context 12345678]\n\n', MODEL))
  );
}

/** Extends the text to this number of tokens. */
async function extendText(start: string, tokens: number): Promise<string> {
  let text = start;
  for (let index = 0; (await countTokens(text, MODEL)) < tokens; index++) text += ` ${FILLER[index % FILLER.length]}`;
  return text;
}

const FILLER = 'The harbour opens at six and the first ferry leaves a little later with the mail and two crates of apples'.split(' ');

const QUESTIONS = [
  'When does my ferry to the island leave on Friday? I want to be there before the market closes and have to bring two suitcases and a bicycle, and I would rather not wait at the pier for an hour in the rain again as I had to',
  'What did my doctor say about my knee? I have been asked whether I would like to come along on a walk of two days in the hills at the end of the month, and before I say yes or no I should know what I am allowed to do',
  'Which tea does Ana like best in the morning? She stays with us for three days from tomorrow, and I am going to the shop now, so please write me a short list with what she likes and how much of it three of us will need',
  'How tall is the bookshelf in my study? We are thinking about moving it to the room under the roof, whose wall is two metres high at the lowest side, and I do not want to carry everything up the stairs for nothing, as last year',
  'Who waters the plants while we are in Norway? I would like to leave a small present and a note with the telephone number of the hotel, and I have to write to them today what has to be done and on which day of the week it is',
];

/** More memories than are recalled for a message. */
const MEMORIES = [
  'Ana likes black tea with milk in the morning and nothing after noon',
  'The ferry to the island leaves at 7:40 on Fridays and at 9:10 on all other days',
  'My doctor said that my knee needs six weeks of rest and then light cycling',
  'The bookshelf in my study is 212 centimetres tall and 90 wide',
  'Jonas waters the plants on Tuesdays while we are in Norway',
  ...Array.from(
    { length: 40 },
    (_, index) =>
      `Note ${index + 1} on the ferry: cabin ${index + 101} was quiet, and the knee did not hurt on the stairs of deck ${index % 9}`,
  ),
];
