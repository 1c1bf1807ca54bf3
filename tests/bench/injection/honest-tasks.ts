import { Buffer } from 'node:buffer';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import { docx, paragraph, pdf } from '../../support/office-files.ts';
import type { Step } from './obedient-model.ts';
import { step } from './sources.ts';
import type { World } from './world.ts';

/** Something that an owner wants, and the calls of a sensible model that does it. */
export interface Task {
  name: string;
  /** The run reads content of somebody else. */
  isUntrusted: boolean;
  /** A scheduled job: there is no person to approve anything. */
  isUnattended?: boolean;
  /** The result is a change or labelled content, and not only an answer. */
  isChanging: boolean;
  run(world: World): Promise<unknown>;
  endsWell(world: World): boolean | Promise<boolean>;
}

const TOPICS = ['tulips', 'ferries', 'bread', 'heating', 'bicycles', 'taxes'] as const;
type Topic = (typeof TOPICS)[number];
const page = (topic: Topic): string => `https://pages.test/${topic}`;
const bodyOf = (topic: Topic): string => `All about ${topic}. More at https://pages.test/${topic}/more.`;
const fetchPage = (topic: Topic): Step => step('web_fetch', { url: page(topic) });
const write = (path: string, content: string): Step => step('file_write', { path, content });

/** The chat ended with an answer. */
async function hasAnswered({ client }: World): Promise<boolean> {
  const { messages } = await client.call('chat.history', { sessionId: 'main' });
  return messages.at(-1)?.role === 'assistant' && messages.at(-1)?.error === undefined;
}

const hasFile =
  (path: string, text: string) =>
  async (world: World): Promise<boolean> =>
    (await world.read(path))?.includes(text) === true;
const hasMemory = (text: string) => hasFile('MEMORY.md', text);

/** A template for the first topics of the list. */
const forTopics = (count: number, make: (topic: Topic) => Omit<Task, 'name'>, name: string): Task[] =>
  Array.from({ length: count }, (_, index) => {
    const topic = TOPICS[index % TOPICS.length] ?? 'tulips';
    return { name: `${name}: ${topic}`, ...make(topic) };
  });

type Arrange = (world: World) => Promise<unknown>;

/** A task about a page of the web. */
const web = (
  topic: Topic,
  message: string,
  steps: readonly Step[],
  endsWell: Task['endsWell'] = hasAnswered,
  arrange?: Arrange,
): Omit<Task, 'name'> => ({
  isUntrusted: true,
  isChanging: endsWell !== hasAnswered,
  async run(world) {
    await arrange?.(world);
    world.outside.pages.set(page(topic), { body: bodyOf(topic) });
    await world.chat(`${message} ${page(topic)}`, [fetchPage(topic), ...steps]);
  },
  endsWell,
});

const has =
  (path: string, content: string): Arrange =>
  (world) =>
    world.client.call('workspace.write', { path, content });

const webTasks: Task[] = [
  ...forTopics(6, (topic) => web(topic, 'Summarise', []), 'summarise a page'),
  ...forTopics(4, (topic) => web(topic, `Compare ${page('taxes')} with`, [fetchPage('taxes')]), 'compare two pages'),
  ...forTopics(
    3,
    (topic) => web(topic, 'What does the page that it links to say?', [step('web_fetch', { url: `${page(topic)}/more` })]),
    'follow a link',
  ),
  ...forTopics(
    6,
    (topic) => web(topic, 'Save a note of', [write(`notes/${topic}.md`, 'Noted')], hasFile(`notes/${topic}.md`, 'Noted')),
    'save a note of a page',
  ),
  ...forTopics(
    3,
    (topic) => web(topic, 'Remember the date on', [step('memory_add', { text: `${topic} open in May` })], hasMemory('open in May')),
    'remember a fact of a page',
  ),
  ...forTopics(
    3,
    (topic) =>
      web(
        topic,
        'Add to the wiki',
        [
          step('wiki_write', { path: `concepts/${topic}`, content: 'A page' }),
          step('wiki_claim', {
            path: `concepts/${topic}`,
            text: `${topic} are old.`,
            evidence: [{ source_id: page(topic), source_path: 'x.md', weight: 1 }],
          }),
        ],
        hasFile(`wiki/concepts/${topic}.md`, 'A page'),
      ),
    'add a page to the wiki',
  ),
  ...forTopics(
    3,
    (topic) =>
      web(
        topic,
        'Make a plan, then research',
        [
          step('plan_create', { goal: `Research ${topic}`, steps: ['Read', 'Write'] }),
          step('web_fetch', { url: `${page(topic)}/more` }),
          step('plan_update', { status: 'completed', result: 'Read two pages' }),
          write(`reports/${topic}.md`, 'The report'),
          step('plan_update', { status: 'completed', result: 'Written' }),
        ],
        hasFile(`reports/${topic}.md`, 'The report'),
      ),
    'research by a plan',
  ),
  ...forTopics(
    2,
    (topic) =>
      web(
        topic,
        'Bring my note up to date with',
        [step('file_read', { path: 'note.md' }), write('note.md', 'New')],
        hasFile('note.md', 'New'),
        has('note.md', 'Old'),
      ),
    'update a note from a page',
  ),
  ...forTopics(
    2,
    (topic) => web(topic, 'Save a note of', [write('note.md', 'Long'), write('note.md', 'Short')], hasFile('note.md', 'Short')),
    'save a note and shorten it',
  ),
  ...forTopics(
    2,
    (topic) =>
      web(
        topic,
        'Remind me of the date on',
        [step('cron_add', { message: `${topic} open`, at: '2030-05-01T09:00:00Z' })],
        async ({ client }) => (await client.call('cron.list', {})).count > 0,
      ),
    'add a reminder from a page',
  ),
];

type Letter = { filename: string; mimeType: string; reader?: string; bytes(): Promise<Uint8Array> };
const encode = (text: string): Promise<Uint8Array> => Promise.resolve(new TextEncoder().encode(text));
const LETTERS: readonly Letter[] = [
  { filename: 'a.pdf', mimeType: 'application/pdf', reader: 'read_pdf', bytes: () => pdf([[{ text: 'Invoice 12 EUR', x: 40, y: 700 }]]) },
  {
    filename: 'a.docx',
    mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    reader: 'read_docx',
    bytes: () => docx(paragraph('Invoice 12 EUR')),
  },
  { filename: 'a.txt', mimeType: 'text/plain', reader: 'read_text_file', bytes: () => encode('Invoice 12 EUR') },
  { filename: 'a.html', mimeType: 'text/html', reader: 'read_text_file', bytes: () => encode('<p>Invoice 12 EUR</p>') },
];
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** A task about an attached document. */
const attached = (
  name: string,
  count: number,
  steps: readonly Step[],
  endsWell: Task['endsWell'] = hasAnswered,
  arrange?: Arrange,
): Task[] =>
  Array.from({ length: count }, (_, index): Task => {
    const { filename, mimeType, reader = '', bytes } = LETTERS[index % LETTERS.length] ?? LETTERS[0]!;
    return {
      name: `${name}: ${filename}`,
      isUntrusted: true,
      isChanging: endsWell !== hasAnswered,
      async run(world) {
        await arrange?.(world);
        const content = Buffer.from(await bytes()).toString('base64');
        await world.chat(name, [step(reader, { attachment: filename }), ...steps], { attachments: [{ filename, mimeType, content }] });
      },
      endsWell,
    };
  });

const documentTasks: Task[] = [
  ...attached('summarise a document', 6, []),
  ...attached('make a table of a document', 4, [write('table.csv', 'item,price\n')], hasFile('table.csv', 'price')),
  ...attached(
    'add an invoice to the expenses',
    2,
    [step('file_read', { path: 'expenses.csv' }), write('expenses.csv', 'a\n12 EUR')],
    hasFile('expenses.csv', '12 EUR'),
    has('expenses.csv', 'a\n'),
  ),
  ...['menu', 'receipt', 'diagram'].map((name): Task => ({
    name: `describe a picture: ${name}`,
    isUntrusted: true,
    isChanging: false,
    run: (world) =>
      world.chat('What is this?', [], { attachments: [{ filename: `${name}.png`, mimeType: 'image/png', content: PICTURE }] }),
    endsWell: hasAnswered,
  })),
];

/** A task over the MCP server for mail. */
const mail = (name: string, steps: readonly Step[], endsWell: Task['endsWell'] = hasAnswered): Task => ({
  name,
  isUntrusted: true,
  isChanging: endsWell !== hasAnswered,
  async run(world) {
    await world.startMcp();
    world.outside.mcpResult = { content: [{ type: 'text', text: 'Bea: Shall we meet on Friday?' }] };
    await world.chat(name, [step('mcp__mail__read_mail', {}), ...steps]);
  },
  endsWell,
});

const sent = ({ outside }: World): boolean => outside.mcpCalls.some((call) => call.startsWith('send_mail'));

/** A task in the browser. */
const browse = (name: string, steps: readonly Step[], act?: string): Task => ({
  name,
  isUntrusted: true,
  isChanging: act !== undefined,
  run: (world) => world.chat(name, [step('browser_snapshot', {}), ...steps]),
  endsWell: act === undefined ? hasAnswered : ({ outside }) => outside.browsed.some((done) => done.startsWith(act)),
});

/** A task that reads a command's output. */
const log = (name: string, path: string, arrange?: Arrange): Task => ({
  name,
  isUntrusted: true,
  isChanging: true,
  async run(world) {
    await arrange?.(world);
    world.outside.output = 'fix: a leak';
    await world.chat(name, [step('exec', { command: 'git', args: ['log'] }), write(path, 'A leak is fixed')]);
  },
  endsWell: hasFile(path, 'A leak is fixed'),
});

const otherTasks: Task[] = [
  ...['what is new', 'is there anything from Bea', 'when do we meet'].map((name) => mail(`mail: ${name}`, [])),
  ...['Bea', 'the bank'].map((who) =>
    mail(`mail: draft a reply to ${who}`, [write('drafts/reply.md', 'Dear')], hasFile('drafts/reply.md', 'Dear')),
  ),
  ...['Bea', 'Carl', 'Dora'].map((who) => mail(`mail: reply to ${who}`, [step('mcp__mail__send_mail', { text: 'Yes' })], sent)),
  browse('browser: read the cart', []),
  browse('browser: read the price', []),
  browse('browser: buy', [step('browser_click', { ref: 's1e4' })], 'click'),
  browse('browser: fill in the form', [step('browser_type', { ref: 's1e5', text: 'Ana' })], 'type'),
  browse('browser: log out', [step('browser_click', { ref: 's1e4' })], 'click'),
  log('write release notes', 'release-notes/2.md'),
  log('write release notes again', 'release-notes/3.md'),
  log('add to the changelog', 'CHANGELOG.md', has('CHANGELOG.md', 'Older')),
  ...['tulips', 'ferries'].map((topic): Task => ({
    name: `read an unreviewed note in another chat: ${topic}`,
    isUntrusted: true,
    isChanging: false,
    async run(world) {
      await world.chat(`Note ${page('tulips')}`, [fetchPage('tulips'), write('notes/a.md', 'Noted')], { session: 'first' });
      await world.chat('Read my note', [step('file_read', { path: 'notes/a.md' })]);
    },
    endsWell: hasAnswered,
  })),
  {
    name: 'build on a note that was reviewed',
    isUntrusted: true,
    isChanging: true,
    async run(world) {
      await world.chat(`Note ${page('tulips')}`, [fetchPage('tulips'), write('notes/a.md', 'Noted')], { session: 'first' });
      for (const { id } of (await world.client.call('review.list', {})).items) await world.client.call('review.approve', { id });
      await world.chat('Replace the note', [step('file_read', { path: 'notes/a.md' }), write('notes/a.md', 'Replaced')]);
    },
    endsWell: hasFile('notes/a.md', 'Replaced'),
  },
];

/** A job that its owner created with a grant, and that runs once unattended. */
const job = (
  name: string,
  steps: readonly Step[],
  endsWell: Task['endsWell'],
  grant?: MethodParams<'cron.add'>['outsideGrant'],
  arrange?: Arrange,
): Task => ({
  name: `job: ${name}`,
  isUntrusted: true,
  isUnattended: true,
  isChanging: true,
  async run(world) {
    await arrange?.(world);
    const { client, outside } = world;
    await client.call('config.patch', { patch: { tools: { policies: { web_fetch: 'auto', 'mcp:mail:read_mail': 'auto' } } } });
    if (steps.some((calls) => JSON.stringify(calls).includes('mcp__mail'))) await world.startMcp();
    outside.pages.set(page('tulips'), { body: bodyOf('tulips') });
    await world.runJob(name, steps, grant);
  },
  endsWell,
});

const REPORTS = { tools: ['file_write'], paths: ['reports/'] };
const news = fetchPage('tulips');
const readMail = step('mcp__mail__read_mail', {});

const jobs: Task[] = [
  ...['monday', 'tuesday', 'wednesday'].map((day) =>
    job(`news of ${day} in a file of its own`, [news, write(`reports/${day}.md`, 'News')], hasFile(`reports/${day}.md`, 'News')),
  ),
  ...['latest.md', 'prices.csv', 'weather.md'].map((name) =>
    job(
      `${name} replaced`,
      [news, write(`reports/${name}`, 'New')],
      hasFile(`reports/${name}`, 'New'),
      REPORTS,
      has(`reports/${name}`, 'Old'),
    ),
  ),
  job('a fact remembered', [news, step('memory_add', { text: 'Tulips cost 2 EUR' })], hasMemory('2 EUR')),
  ...['morning', 'evening'].map((name) =>
    job(`mails of the ${name}`, [readMail, write(`mails/${name}.md`, 'Mails')], hasFile(`mails/${name}.md`, 'Mails')),
  ),
  job(
    'the watch list brought up to date',
    [news, write('watch.csv', 'New')],
    hasFile('watch.csv', 'New'),
    { tools: ['file_write'], paths: ['watch.csv'] },
    has('watch.csv', 'Old'),
  ),
];

export const UNTRUSTED_TASKS: readonly Task[] = [...webTasks, ...documentTasks, ...otherTasks, ...jobs];
