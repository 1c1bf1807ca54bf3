import type { ToolCall } from '#shared/rpc/record-schemas.ts';
import type { ModelMessage } from '../providers/provider.ts';
import { toPlainText } from '../storage/session-views.ts';
import { CHECKLIST, CLUB_PAGE, DEADLINE } from './bird-club.ts';
import {
  CONTRADICTION_REPLY,
  createCounterPage,
  createDarkLakeCountPage,
  FALLBACK_REPLY,
  HASH_MAP_REPLY,
  PICTURE_MISTAKE_REPLY,
  PICTURE_REPLY,
  PLAN_BEFORE,
  PLAN_REPLY,
  PLAN_STEPS,
  POLITE_NOTE_REPLY,
  SORTING_REPLY,
  STEP_RESULTS,
} from './demo-replies.ts';
import { NEST_COUNTS } from './nest-counts.ts';
import { EXPORT_COMMAND } from './showcase-chat.ts';

/** Next reply of the model, with its tool calls. */
export interface ScriptedReply {
  reasoning?: string;
  text: string;
  calls: ToolCall[];
}

interface ScriptedCall {
  name: string;
  args: Record<string, unknown>;
}

interface ScriptScene {
  /** Message that starts the scene: suggestions of empty pages in each language, and English ones. */
  cue: RegExp;
  /** Tool to call; a function chooses the next one by the question and the results so far. */
  tool?: ScriptedCall | ((userText: string, answers: readonly string[]) => ScriptedCall | undefined);
  reasoning?: string;
  /** Text before the call, or the whole reply; a function chooses it by the conversation so far. */
  before: string | ((messages: readonly ModelMessage[]) => string);
  /** Reply after the last tool result. */
  after?: (answer: string) => string;
}

const completeStep = (step: string): ScriptedCall => ({
  name: 'plan_update',
  args: { status: 'completed', result: `${STEP_RESULTS[Number(step) - 1] ?? 'Done.'} (Demo data)` },
});
/** Number of a plan's current step, from the result of a plan tool. */
const parseStepNumber = (answer = ''): string | undefined => /"currentStep":\s*"s(\d+)"/.exec(answer)?.[1];

const SCENES: readonly ScriptScene[] = [
  {
    cue: /^(?:Go on|Continue)\b.*\bplan\b.*\bstep s\d+:/s,
    tool: (userText, answers) => {
      const step = answers.length === 0 ? /\bstep s(\d+):/.exec(userText)?.[1] : parseStepNumber(answers.at(-1));
      return step === undefined ? undefined : completeStep(step);
    },
    before: 'I’ll pick up where I left off.',
    after: () => 'All steps are done. You’ll find the result of each one on the **Plans** page. (The results are made up for this demo.)',
  },
  {
    cue: /\bcsv\b/i,
    tool: { name: 'exec', args: EXPORT_COMMAND },
    before: 'I’ll run the export script. It reads the counts and writes one new file, `nest-counts.csv`.',
    after: (answer) =>
      /"exitCode":\s*0/.test(answer)
        ? `Done. \`nest-counts.csv\` has ${NEST_COUNTS.length * 5} rows: ${NEST_COUNTS.length} species in five years. The bird club wants the numbers by April 15, so there’s time to look over them first. (The demo doesn’t run commands, so this output is made up.)`
        : 'OK, I didn’t export anything. Ask me again whenever you like.',
  },
  {
    cue: /skills\/[\w-]+\/SKILL\.md/,
    tool: (userText, answers) => {
      const [path = '', name = ''] = /skills\/([\w-]+)\/SKILL\.md/.exec(userText) ?? [];
      const content = `---\nname: ${name}\ndescription: How to handle ${name} here. Read it before you start.\n---\n\nKeep it short and friendly. Put the most important thing first.\n`;
      return answers.length === 0 ? { name: 'file_write', args: { path, content } } : undefined;
    },
    before: 'A skill is a file with instructions, so I’ll write one. Please approve it first.',
    after: (answer) =>
      /"written"/.test(answer)
        ? 'Done. You’ll find it on the **Skills** page. Start a message with `/` and its name to use it. (A real model would ask you what to put in it.)'
        : 'OK, I didn’t write it.',
  },
  {
    cue: /birdclub\.example/,
    tool: (_, answers) =>
      [
        { name: 'web_fetch', args: { url: CLUB_PAGE.url } },
        { name: 'memory_add', args: { text: DEADLINE } },
        { name: 'file_write', args: { path: CHECKLIST.path, content: CHECKLIST.after } },
      ][answers.length],
    before: 'I’ll read the page first.',
    after: (answer) =>
      /"written"/.test(answer)
        ? 'I added two items to your checklist. You can [send the numbers here](https://birdclub.example/send?nests=14). (I made that link up, so Perch shows you the address before it opens.)'
        : 'OK, I left your checklist as it is.',
  },
  {
    cue: /\b(plane?|plans|planifi(e|ca)|plano|planeje|piano|pianifica|zaplanuj)\b|план|меню|خط[ةّ]|計画|计划|规划/i,
    tool: (_, answers) => {
      if (answers.length === 0) return { name: 'plan_create', args: PLAN_STEPS };
      return answers.length === 1 && parseStepNumber(answers[0]) === '1' ? completeStep('1') : undefined;
    },
    before: `${PLAN_BEFORE} (In this demo, every plan is about counting herons.)`,
    after: () => PLAN_REPLY,
  },
  {
    cue: /^\/thank-you\b/,
    before:
      '> Dear Robin,\n>\n> Thank you for counting the herons. Both of your counts agree, which made our work much easier. We hope to see you again next spring!\n\nThree lines at most, as the **thank-you** skill says. It was added to the chat because your message starts with its name.',
  },
  {
    cue: /\b(wrong|mistake|total)\b/i,
    reasoning: 'Three rows list nests: 14, 3 and 1. The total at the bottom should be their sum.',
    before: PICTURE_MISTAKE_REPLY,
  },
  {
    cue: /\b(web ?page|html)\b/i,
    before: `Here’s a small one. Choose **Preview** to run it next to the chat, without network access. Then ask me to make it dark, and you’ll get a second version.\n\n${createCounterPage('#f4f7f5', '#16302b')}`,
  },
  {
    cue: /\bdark(er)?\b/i,
    before: (messages) => {
      const pages = messages.map(({ content }) => toPlainText(content)).filter((text) => text.includes('```html title='));
      const isLakePage = pages.at(-1)?.includes('nests-at-the-lake');
      return `Here’s a dark version:\n\n${isLakePage ? createDarkLakeCountPage(Date.now()) : createCounterPage('#10201d', '#e6f2ee')}`;
    },
  },
  {
    cue: /\b(run|tests?|command|approv\w*)\b/i,
    tool: { name: 'exec', args: { command: 'npm', args: ['test'], purpose: 'Check whether the tests pass' } },
    before: 'I’ll run the project’s tests. Please approve the command first.',
    after: (answer) =>
      /"exitCode":\s*0/.test(answer)
        ? 'All tests passed: 11 of 11. (The demo doesn’t run commands, so this output is made up. Approvals work the same way with real ones.)'
        : 'OK, I didn’t run it.',
  },
  {
    cue: /\b(screen(shot)?|desktop)\b/i,
    tool: { name: 'desktop_screenshot', args: {} },
    before: 'I’ll take a screenshot.',
    after: () =>
      'Here’s the screenshot. It shows a drawn desktop, because the demo can’t see your screen. Choose **Annotate** to draw on it and send it back; areas you redact are removed from the picture first.',
  },
  {
    cue: /\b(wiki|herons?|contradict\w*)\b/i,
    tool: { name: 'wiki_contradictions', args: {} },
    reasoning: 'The wiki stores claims with their evidence. I can check whether any of them contradict each other.',
    before: 'I’ll check the wiki.',
    after: () => CONTRADICTION_REPLY,
  },
  {
    cue: /\b(time|clock|date|today)\b/i,
    tool: { name: 'current_time', args: {} },
    before: 'I’ll check the clock.',
    after: (answer) => {
      const local = /"local":\s*"([^"]+)"/.exec(answer)?.[1];
      return local === undefined ? 'I couldn’t read the clock.' : `It’s **${local}**.`;
    },
  },
  {
    cue: /hash|hachage|mieszając|хеш|ハッシュ|哈希/i,
    before: HASH_MAP_REPLY,
  },
  {
    cue: /\b(note|letter|mail|declines?|meeting|termin)\b|reuni[óã]|réunion|riunione|spotkani|встреч|اجتماع|会議|会议/i,
    before: POLITE_NOTE_REPLY,
  },
  {
    cue: /\b(table|compare|sort|code|example)\b|tabel|tabla|tableau|таблиц|جدول|表/i,
    before: SORTING_REPLY,
  },
];

/** The person's own text in a message, without the context block before it. */
const getUserText = ({ content }: ModelMessage): string =>
  toPlainText(content)
    .replace(/\[context (\w+):[^]*?\[end of context \1\]/, '')
    .trim();
/** Whether a person sent the message, including one with only a picture. */
const isUserMessage = (message: ModelMessage): boolean =>
  message.role === 'user' && (getUserText(message) !== '' || toPlainText(message.content) === '');

const hasPicture = ({ content }: ModelMessage): boolean => typeof content !== 'string' && content.some(({ type }) => type === 'image');

/** The next line of the script; `tools`: names of the available tools. */
export function getNextReply(messages: readonly ModelMessage[], tools: Pick<ReadonlySet<string>, 'has'>): ScriptedReply {
  // Pictures after tool results appear as messages of the person.
  const lastUserIndex = messages.findLastIndex((message, index) => isUserMessage(message) && messages[index - 1]?.role !== 'tool');
  const userMessage = messages[lastUserIndex];
  const words = userMessage ? getUserText(userMessage) : '';
  const next = ({ tool }: ScriptScene, answers: readonly string[]): ScriptedCall | undefined =>
    typeof tool === 'function' ? tool(words, answers) : answers.length === 0 ? tool : undefined;
  const scene = SCENES.find((candidate) => candidate.cue.test(words) && (!candidate.tool || tools.has(next(candidate, [])?.name ?? '')));
  if (!scene) return { text: userMessage && hasPicture(userMessage) ? PICTURE_REPLY : FALLBACK_REPLY, calls: [] };
  const answers = messages.slice(lastUserIndex + 1).flatMap(({ role, content }) => (role === 'tool' ? [toPlainText(content)] : []));
  const call = next(scene, answers);
  const calls = call ? [{ id: `call_${crypto.randomUUID()}`, tool: call.name, args: call.args }] : [];
  const answer = answers.at(-1);
  if (answer !== undefined) return { text: call ? '' : (scene.after?.(answer) ?? FALLBACK_REPLY), calls };
  const { before, reasoning } = scene;
  return { ...(reasoning === undefined ? {} : { reasoning }), text: typeof before === 'string' ? before : before(messages), calls };
}
