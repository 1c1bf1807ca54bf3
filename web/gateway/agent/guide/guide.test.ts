import { describe, expect, it } from 'vitest';
import { events as pushed } from '#shared/rpc/events.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import type { ModelEvent, ModelMessage, ModelRequest } from '../../providers/provider.ts';
import { coreTools } from '../tools/core-tools.ts';
import { cronTools } from '../../automation/cron/cron-tools.ts';
import type { MemoryRecord } from '../../storage/vault-interface.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { STARTERS } from './guide-answer.ts';
import { articles } from './docs.ts';
import { GuideProvider } from './guide.ts';
import { searchDocs } from './doc-search.ts';
import { ContentLabels } from '../trust/content-labels.ts';
import { splitPieces } from './split-pieces.ts';

const DAY = Date.UTC(2026, 10, 20);
let ids = 0;

const memory = (text: string): MemoryRecord => ({ id: `m${++ids}`, text, category: 'fact', createdAt: DAY });

function said(text: string, fields: Partial<MessageRecord> = {}): MessageRecord {
  return { id: `x${++ids}`, role: 'user', content: text, timestamp: DAY, sessionKey: 'main/trip', parentId: null, depth: 0, ...fields };
}

const tools = coreTools({
  timeZone: () => 'UTC',
  keepVersion: async () => {},
  clock: systemClock,
  vault: {
    messages: { get: () => Promise.resolve(undefined), branch: () => Promise.reject(new Error('There are no chats here')) },
    search: { sessions: () => Promise.resolve({ results: [], total: 0, next: null, complete: true }), messages: () => Promise.resolve([]) },
  },
  memories: { load: () => Promise.reject(new Error('Nothing is remembered here')) },
  longTermMemories: { load: () => Promise.reject(new Error('Nothing is remembered here')) },
  provenance: { load: () => Promise.reject(new Error('Nothing is remembered here')) },
  agent: () => Promise.reject(new Error('There is no agent here')) as never,
  labels: new ContentLabels({ vault: { collection: () => Promise.reject(new Error('no labels here')) as never }, clock: systemClock }),
});

function guide({ memories = [], messages = [] }: { memories?: MemoryRecord[]; messages?: MessageRecord[] } = {}): GuideProvider {
  const sources = () => ({ memories: () => Promise.resolve(memories), messages: () => Promise.resolve(messages) });
  return new GuideProvider({ clock: systemClock, sources, tools: () => tools, paceMs: 0 });
}

async function events(request: string | ModelMessage[], from = guide(), rest: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const messages: ModelMessage[] = typeof request === 'string' ? [{ role: 'user', content: request }] : request;
  const out: ModelEvent[] = [];
  for await (const event of from.stream({ model: 'guide', messages, ...rest }, new AbortController().signal)) out.push(event);
  return out;
}

const textOf = (list: ModelEvent[]): string => list.map((event) => (event.type === 'text' ? event.text : '')).join('');
const reply = async (...args: Parameters<typeof events>): Promise<string> => textOf(await events(...args));

describe('answers', () => {
  verifies('guide/answers', 'answers from docs, memories and messages, with sources, and says that it is no model', async () => {
    const docs = await reply('How do I add a model?');
    expect(docs).toContain('Settings → Models and keys');
    expect(docs).toContain("From Perch's docs: Add a model");
    expect(docs).toContain('not a language model');

    const remembered = await reply(
      "What is my dog's name?",
      guide({ memories: [memory('My dog is called Rex'), memory('I live in Bonn')] }),
    );
    expect(remembered).toContain('> My dog is called Rex\n\n*From your memories, 2026-11-20.*');
    expect(remembered).not.toContain('Bonn');

    const earlier = await reply('When does the ferry to Ærø leave?', guide({ messages: [said('The ferry to Ærø leaves at 14:05')] }));
    expect(earlier).toContain('> The ferry to Ærø leaves at 14:05\n\n*You, in the chat main/trip, 2026-11-20.*');

    const streamed = await events('How do I add a model?');
    expect(streamed.length).toBeGreaterThan(10);
    expect(streamed.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
  });

  it('says if it finds nothing, and what it can answer', async () => {
    for (const question of ['What is the capital of France?', 'Write me a poem about autumn leaves', 'zxqv', '日本の首都はどこですか']) {
      const text = await reply(question);
      expect(text, question).toMatch(/I found nothing about that/);
      for (const starter of STARTERS) expect(text).toContain(starter);
    }
  });

  it('greets with three starters, each of which has an answer', async () => {
    const hello = await reply('Hello!');
    for (const starter of STARTERS) {
      expect(hello).toContain(starter);
      expect(await reply(starter)).toContain("From Perch's docs");
    }
  });

  it.each([
    ['how can I use ollama', 'models#use-ollama'],
    ['does it work with LM Studio?', 'models#use-lm-studio'],
    ['who are you?', 'getting-started#what-is-the-built-in-guide'],
    ['Are you an AI?', 'getting-started#what-is-the-built-in-guide'],
    ['What is Perch?', 'getting-started#what-is-perch'],
    ['How do I call Perch from a program?', 'api#call-perch-from-a-program'],
    ['openai python package', 'api#use-the-openai-sdk-in-python'],
    ['curl example', 'api#call-the-api-with-curl'],
    ['anthropic sdk base url', 'api#use-the-anthropic-sdk'],
    ['connect claude code', 'api#connect-claude-code'],
    ['Where is my data kept?', 'security#where-your-data-is-and-who-sees-it'],
    ['Where are my chats kept?', 'security#where-your-data-is-and-who-sees-it'],
    ['How do I group chats in a project?', 'chat#group-chats-in-a-project'],
    ['can it read scanned documents', 'chat#read-scanned-documents'],
    ['languages of text recognition', 'chat#read-scanned-documents'],
    ['how do i stop a reply', 'chat#stop-a-reply'],
    ['does it work offline', 'getting-started#work-offline'],
    ['what does --host tab do', 'command-line#choose-where-the-gateway-runs'],
    ['keyboard shortcuts', 'getting-started#keyboard-shortcuts'],
    ['websocket protocol', 'api#connect-over-websocket'],
    ['the port is in use', 'troubleshooting#port-7333-is-in-use'],
    ['remind me every morning at nine', 'automations#schedule-a-message-to-an-agent'],
    ['how do I schedule a job', 'automations#schedule-a-message-to-an-agent'],
    ['what is the heartbeat', 'automations#turn-on-the-heartbeat'],
    ['add an API key for OpenRouter', 'models#use-openrouter'],
    ['How do I use Claude?', 'models#use-anthropic-claude'],
    ['What happens when a model fails, is there a fallback?', 'models#add-fallback-models'],
    ['What does a reply cost?', 'models#what-a-reply-costs'],
    ['How does prompt caching work?', 'models#prompt-caching'],
    ['show my cache hit rate', 'models#prompt-caching'],
    ['can you remember things for me', 'memory#save-a-memory-in-a-chat'],
    ['where are memories stored on disk', 'memory#memory-files'],
    ['how do I turn off memory in one chat', 'memory#turn-memories-off-in-a-chat'],
    ['what is dreaming', 'memory#dreaming'],
    ['import my obsidian vault', 'wiki#import-from-obsidian-notion-or-logseq'],
    ['import my chats from Claude', 'chat#import-chats-from-chatgpt-claude-or-another-app'],
    ['bring my saved memories from ChatGPT', 'memory#import-memories-from-chatgpt-or-claude'],
    ['two claims contradict each other', 'wiki#resolve-a-contradiction'],
    ['create an api key for my app', 'api#create-an-api-key'],
    ['which header do I send my api key in', 'api#send-an-api-key-with-a-request'],
    ['use perch as an mcp server in cursor', 'api#use-perch-as-an-mcp-server'],
    ['connect an app that only knows ollama', 'api#serve-programs-for-ollama'],
    ['upload a file and use its file_id', 'api#upload-files'],
    ['rerank documents', 'api#rerank-and-moderate'],
    ['http status 429', 'api#http-errors'],
    ['a canvas for my own web page', 'libraries#draw-on-a-canvas'],
    ['edit my message and regenerate', 'chat#edit-a-message-or-regenerate-a-reply'],
    ['where do I find the access token', 'api#find-your-access-token'],
    ['install as an app', 'getting-started#install-the-app'],
    ['which version of node does Perch need', 'getting-started#requirements'],
    ['how do I update to a new version', 'getting-started#update-perch'],
    ['how can I switch on dark mode', 'getting-started#change-the-theme-or-language'],
    ['run a model in the browser', 'models#run-a-model-in-the-browser'],
    ['how do I download a GGUF file from Hugging Face', 'models#download-a-model-in-gguf-format'],
    ['change the default model', 'models#set-the-default-model'],
    ['use a cheaper model for titles', 'models#choose-a-model-for-titles-and-summaries'],
    ['my local server is not detected', 'models#a-local-model-server-is-not-found'],
    ['how do I search my chats', 'chat#search-chats'],
    ['import my ChatGPT history', 'chat#import-chats-from-chatgpt-claude-or-another-app'],
    ['how large may an attachment be', 'chat#limits-of-messages-and-files'],
    ['how can I send a message now while the agent works', 'chat#steer-a-reply'],
    ['how do I open Perch on my phone', 'devices#pair-a-phones-browser'],
    ['I lost my phone', 'devices#revoke-a-device-or-a-browser'],
    ['pair a second browser', 'devices#pair-another-browser'],
    ['how do I run a tool', 'tools#try-a-tool'],
    ['let an OpenAI program search my collections with file_search', 'api#let-a-model-search-your-collections'],
    ['which openai tts voices has the v1 endpoint', 'api#create-speech'],
    ['transcribe a recording with whisper', 'api#transcribe-audio'],
    ['generate images over the api', 'api#create-or-edit-images'],
    ['legacy text completion endpoint', 'api#complete-a-text'],
    ['openapi specification of the api', 'api#get-the-apis-description'],
    ['which tools does a model get with every message', 'tools#choose-the-tools-in-every-message'],
    ['what is tool_search', 'tools#choose-the-tools-in-every-message'],
    ['how do I resume a paused plan', 'automations#resume-a-paused-plan'],
    ['where do I put a SKILL.md folder', 'tools#add-a-skill'],
    ['which files can an agent write in its workspace', 'tools#work-with-an-agents-files'],
    ['how do I add an MCP server', 'tools#add-an-mcp-server'],
    ['my MCP server needs a token in an environment variable', 'tools#add-an-mcp-server-in-configjson'],
    ['where is the workspace folder on disk', 'tools#open-a-workspace-folder'],
    ['can an agent run shell commands', 'automations#let-an-agent-run-commands'],
    ['does an approval cover the script file', 'automations#what-an-approval-covers'],
    ['my command can’t be run exactly as approved', 'automations#what-an-approval-covers'],
    ['how do I approve a tool call', 'automations#approve-or-deny-a-request'],
    ['connect a telegram bot', 'channels#connect-telegram'],
    ['does it work with slack', 'channels-slack#what-works-on-slack'],
    ['does it work with microsoft teams', 'channels#which-channels-are-supported'],
    ['connect a discord bot', 'channels-discord#connect-discord'],
    ['connect whatsapp', 'channels-whatsapp#connect-whatsapp'],
    ['connect signal with signal-cli', 'channels-signal#connect-signal'],
    ['set up ntfy', 'channels-ntfy#connect-ntfy'],
    ['connect irc to libera', 'channels-irc#connect-irc'],
    ['which token does slack need', 'channels-slack#connect-slack'],
    ['the browser cannot open localhost', 'browser#let-the-browser-open-local-sites'],
    ['how do I solve a captcha for the agent', 'browser#take-control-of-the-browser'],
    ['redact a password in a screenshot', 'annotate#hide-parts-of-a-picture'],
    ['sync my laptop and desktop over nats', 'cluster#sync-several-machines-over-nats'],
    ['what is the recovery phrase', 'cluster#recovery-phrase'],
    ['run several gateways behind a load balancer', 'cluster#run-several-gateways-behind-a-load-balancer'],
    ['show me the logs', 'troubleshooting#read-the-logs'],
    ['run the doctor', 'troubleshooting#run-doctor'],
    ['close code 1013', 'troubleshooting#no-gateway-is-running'],
    ['set a password', 'security#set-a-password'],
    ['store the key in the keychain', 'security#move-the-encryption-key-to-the-system-keyring'],
    ['what is in PERCH_HOME', 'security#files-in-the-home-directory'],
    ['how do I make a backup', 'backup-and-sync#create-a-backup'],
    ['restore a backup', 'backup-and-sync#restore-a-backup'],
    ['edit the configuration file by hand', 'backup-and-sync#edit-configjson'],
    ['chat in the terminal', 'command-line#chat-in-a-terminal'],
    ['start at login as a service', 'command-line#start-perch-when-you-log-in'],
    ['I lost a NATS server', 'cluster#recover-from-a-failure'],
    ['set up a nats server', 'cluster#start-a-nats-server'],
    ['haproxy config for the load balancer', 'cluster#configure-the-load-balancer'],
    ['nats permissions violation', 'cluster#problems-with-nats'],
    ['how do I stop syncing over nats', 'cluster#stop-syncing-over-nats'],
    ['my access token was leaked', 'security#replace-the-access-token'],
    ['prompt injection from a web page', 'security#content-from-outside'],
    ['how do I trust a chat', 'security#trust-a-chat'],
    ['what security does Perch promise', 'security#what-is-promised'],
    ['what is not protected, is there a sandbox', 'security#what-is-not-promised'],
    ['discard a memory that waits for review', 'automations#review-content-from-outside'],
    ['always allow after reading from a source', 'automations#requests-after-reading-from-outside'],
    ['can other websites call my gateway', 'security#access-control'],
    ['others can read my home directory', 'security#fix-file-permissions'],
    ['move everything to a new computer', 'backup-and-sync#move-perch-to-another-computer'],
    ['is a backup encrypted', 'backup-and-sync#what-a-backup-contains'],
    ['daily backup with cron', 'backup-and-sync#back-up-on-a-schedule'],
    ['separate vault for work', 'backup-and-sync#use-several-vaults'],
    ['error in config.json', 'backup-and-sync#errors-in-configjson'],
    ['resolve a conflict between two devices', 'backup-and-sync#resolve-a-sync-conflict'],
    ['install perch as a global command', 'command-line#install-a-global-command'],
    ['which environment variables are there', 'command-line#environment-variables'],
    ['what is the bridge', 'command-line#the-bridge'],
    ['export a chat from the terminal', 'command-line#save-a-chat-from-a-terminal'],
    ['what does each scope of a key allow', 'api#scopes-of-an-api-key'],
    ['why does the agent of my key not have its tools', 'api#limits-of-agents-that-a-key-runs'],
    ['bind a sender to another agent', 'channels#reply-with-another-agent-to-single-people'],
    ['a stranger got a pairing code on Telegram', 'channels#let-in-a-new-sender'],
    ['why does a reply to a stranger on Telegram wait for approval', 'channels#replies-that-need-approval'],
    ['this host name is not allowed', 'troubleshooting#a-request-is-not-allowed-403'],
    ['vault.key is missing', 'troubleshooting#perch-cant-read-its-data'],
    ['the pairing link has expired', 'troubleshooting#a-pairing-link-doesnt-work'],
    ['delete all data and start fresh', 'troubleshooting#start-with-empty-data'],
  ])('answers "%s" by the article %s', async (question, id) => {
    const title = articles.find((article) => article.id === id)?.title ?? 'no such article';
    expect(await reply(question)).toContain(`From Perch's docs: ${title}.`);
  });

  it('are the same for the same question', async () => {
    const from = guide({ memories: [memory('I prefer tea')], messages: [said('tea is fine')] });
    expect(await events('Do I like tea', from)).toEqual(await events('Do I like tea', from));
  });

  it('do not quote the question itself, commands, or the guide', async () => {
    const from = guide({
      messages: [
        said('quagga stripes'),
        said('/tool docs_search {"query":"quagga"}'),
        said('quagga stripes I found nothing', { role: 'assistant', model: 'guide/guide' }),
        said('Quagga stripes are brown', { role: 'assistant', model: 'ollama/llama3' }),
      ],
    });
    const text = await reply('quagga stripes', from);
    expect(text).toContain('> Quagga stripes are brown\n\n*The model, in the chat');
    expect(text.match(/^>/gm)).toHaveLength(1);
  });

  it('forget what was deleted', async () => {
    const messages = [said('The quagga is extinct')];
    const from = guide({ messages });
    expect(await reply('quagga extinct?', from)).toContain('> The quagga');
    messages.pop();
    expect(await reply('quagga extinct?', from)).toContain('found nothing');
  });

  it('say once in a chat what it is', async () => {
    const [user, assistant]: ModelMessage[] = [
      { role: 'user', content: 'curl example' },
      { role: 'assistant', content: '…' },
    ];
    if (!user || !assistant) throw new Error('no messages');
    expect(await reply([user])).toContain('not a language model');
    expect(await reply([user, assistant, user])).not.toContain('not a language model');
  });

  it('tell that attachments cannot be read', async () => {
    const content: ModelMessage['content'] = [
      { type: 'text', text: 'curl example' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ];
    expect(await reply([{ role: 'user', content }])).toMatch(/^I can’t read attachments/);
  });

  it('tell how a file is read, and show what is in it as it is', async () => {
    const content: ModelMessage['content'] = [
      { type: 'text', text: 'curl example' },
      { type: 'file', mimeType: 'application/pdf', data: 'AAAA', filename: 'a.pdf' },
    ];
    const offered = [{ name: 'read_pdf', description: 'Reads', schema: {} }];
    expect(await reply([{ role: 'user', content }], guide(), { tools: offered })).toContain('Run `/tool read_pdf {}` to get the text');
    const read = { file: 'a.pdf', part: 'pages 1 of 9', note: 'data', text: '# One\n```', next: { pages: '2-9' } };
    const shown = await reply([
      { role: 'user', content: '/tool read_pdf {}' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', tool: 'read_pdf', args: {} }] },
      { role: 'tool', toolCallId: 'c', content: JSON.stringify(read) },
    ]);
    expect(shown).toBe('**a.pdf**: pages 1 of 9\n\n````\n# One\n```\n````\n\nTo go on, add: `{"pages":"2-9"}`');
  });
});

it('gives a long text in a bounded number of pieces, with nothing lost', () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `word ${index}\n`).join('');
  const given = splitPieces(text);
  expect(given.length).toBeLessThanOrEqual(400);
  expect(given.join('')).toBe(text);
});

describe('tools', () => {
  const offered = { tools };

  verifies('guide/tools', 'calls the tool, and renders its result; without an offer it calls none', async () => {
    const asked = await events('/tool docs_search {"query": "offline", "limit": 1}', guide(), offered);
    expect(asked).toEqual([
      { type: 'tool_call', call: { id: expect.stringMatching(/^call_/), tool: 'docs_search', args: { query: 'offline', limit: 1 } } },
      { type: 'finish', reason: 'tool_calls' },
    ]);
    const [call] = asked;
    if (call?.type !== 'tool_call') throw new Error('no call');
    const shown = await reply(
      [
        { role: 'user', content: '/tool docs_search {"query": "offline", "limit": 1}' },
        { role: 'assistant', content: '', toolCalls: [call.call] },
        {
          role: 'tool',
          toolCallId: call.call.id,
          content: JSON.stringify({ results: [{ id: 'offline', title: 'Working offline', text: 'Once opened' }] }),
        },
      ],
      guide(),
      offered,
    );
    expect(shown).toBe('`docs_search` found 1:\n\n**Working offline**\n\n> Once opened\n\nid `offline`');
    const refused = await events('/tool docs_search {"query": "offline"}');
    expect(refused.some(({ type }) => type === 'tool_call')).toBe(false);
    expect(textOf(refused)).toBe('Tools cannot be run from here.');
  });

  it('are listed with a call that can be pasted', async () => {
    const list = await reply('/tools', guide(), offered);
    for (const { name } of tools) expect(list).toContain(`/tool ${name}`);
    expect(list).toContain('`/tool memory_add {"text":"…"}`: Saves a fact to memory.\n');
    expect(await reply('/tools')).toMatch(/cannot be run from here/);
    expect(await reply('/help')).toContain('/tool <name> {json}');
  });

  it.each([
    ['/tool nope {}', /Unknown tool `nope`.*docs_search/s],
    ['/tool constructor', /Unknown tool `constructor`/],
    ['/tool __proto__ {}', /Unknown tool `__proto__`/],
    ['/tool docs_search {"query":', /not valid JSON .*\/tool docs_search \{"query":"…"\}/s],
    ['/tool docs_search [1]', /a JSON object/],
    ['/tool docs_search "x"', /a JSON object/],
    ['/tool', /Enter a tool name/],
    ['/frobnicate', /Unknown command `\/frobnicate`/],
  ])('%s is told what is wrong', async (text, says) => {
    const list = await events(text, guide(), offered);
    expect(list.some(({ type }) => type === 'tool_call')).toBe(false);
    expect(textOf(list)).toMatch(says);
  });

  it('run for "remember that …" and for the time', async () => {
    const first = async (text: string): Promise<unknown> => (await events(text, guide(), offered))[0];
    expect(await first('Please remember that my dog is called Rex.')).toMatchObject({
      call: { tool: 'memory_add', args: { text: 'my dog is called Rex.' } },
    });
    expect(await first('what time is it?')).toMatchObject({ call: { tool: 'current_time', args: {} } });
    expect(await first('remember my dog?')).toMatchObject({ type: 'text' });
  });

  it.each([
    ['{"error":"no room"}', '`x` failed: no room'],
    ['{"error":"x did not run: a person denied it","denied":true}', 'x did not run: a person denied it.'],
    ['plain ``` text', '`x` says:\n\n````\nplain ``` text\n````'],
    ['{"a":1}', '`x` answers:\n\n```json\n{\n  "a": 1\n}\n```'],
    ['{"results":[]}', '`x` found nothing.'],
    ['', '`x` finished without output.'],
  ])('renders %s', async (content, shown) => {
    expect(await reply([{ role: 'tool', name: 'x', content }])).toBe(shown);
  });
});

describe('streaming', () => {
  it('comes in small pieces that are the text again', () => {
    for (const text of ['', 'a', 'one two  three\n\nfour five ', '\n x\n']) expect(splitPieces(text).join('')).toBe(text);
    expect(splitPieces('one two three four')).toEqual(['one two three', ' four']);
  });

  it('is paced by the clock, at most 8 ms a piece, and ends at once on abort', async () => {
    const clock = new FakeClock();
    const sources = () => ({ memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) });
    const paced = new GuideProvider({ clock, sources, paceMs: 1000 });
    const abort = new AbortController();
    const stream = paced.stream({ model: 'guide', messages: [{ role: 'user', content: 'Hello' }] }, abort.signal);
    await stream.next();
    const second = stream.next();
    await clock.waitForTimer(8);
    clock.advance(8);
    await second;
    const third = stream.next();
    await clock.waitForTimer(8);
    abort.abort(new Error('stop'));
    await expect(third).rejects.toThrow('stop');
    expect(clock.pending()).toBe(0);
  });
});

describe('the docs', () => {
  it('have unique ids and titles, and texts short enough to read', () => {
    expect(new Set(articles.map(({ id }) => id)).size).toBe(articles.length);
    expect(new Set(articles.map(({ title }) => title)).size).toBe(articles.length);
    expect(articles.filter(({ text }) => text.length >= 900).map(({ id }) => id)).toEqual([]);
  });

  it('name only methods, events and tools that exist', () => {
    const namespaces = [...new Set(Object.keys(contracts).map((name) => name.split('.')[0]))].filter(
      (name) => name !== 'connect' && name !== 'health',
    );
    const settings = [
      'chat.model',
      'chat.fallbacks',
      'chat.systemPrompt',
      'chat.maxSteps',
      'chat.maxMinutes',
      'chat.smallModel',
      'chat.titles',
      'chat.timeZone',
      'tools.policies',
      'browser.allow',
      'approvals.deliver',
      'browser.cdpEndpoint',
      'tools.execTimeoutMs',
      'tools.mcpServers',
      'documents.ocr.dataUrl',
      'models.hub',
      'memory.recall',
      'memory.recall.enabled',
      'memory.compaction',
      'memory.summary',
      'memory.embeddings.model',
      'memory.daily_summaries.enabled',
    ];
    const known = new Set([...Object.keys(contracts), ...Object.keys(pushed), ...settings]);
    const all = articles.map(({ text }) => text).join('\n');
    const mentioned = all.matchAll(new RegExp(`(?<![\\w.])(?:${namespaces.join('|')})(?:\\.(?!js|toml|lost|env|db)[a-z_A-Z]+)+`, 'g'));
    for (const [name] of mentioned) if (!name.startsWith('chat.completions')) expect(known, name).toContain(name);
    const cron = cronTools({ load: () => Promise.reject(new Error('not asked for')) });
    const names = new Set([...tools, ...cron].map(({ name }) => name));
    for (const [name] of all.matchAll(/\b(?:memory|docs|session|cron)_\w+/g)) expect(names, name).toContain(name);
    expect(articles.find(({ id }) => id === 'memory#memory-tools')?.text.match(/memory_\w+/g)?.length).toBeGreaterThan(4);
  });

  it('are each found by their title', async () => {
    for (const { id, title } of articles) {
      const found = await searchDocs(title, 2);
      expect(
        found.map(({ doc }) => doc.id),
        title,
      ).toContain(id);
    }
  });
});
