import type { ToolCall } from '#shared/rpc/records.ts';
import type { ModelMessage } from '../core/providers/provider.ts';
import { plainText } from '../core/sessions.ts';

/** What the model says next, and which tools it calls then. */
export interface Line {
  reasoning?: string;
  text: string;
  calls: ToolCall[];
}

interface Call {
  name: string;
  args: Record<string, unknown>;
}

interface Scene {
  /** Words of the person that begin it: what empty pages propose, in each language, and English ones. */
  cue: RegExp;
  /** What is called; of several the next one, by what was said and what the ones before have answered. */
  tool?: Call | ((said: string, answers: readonly string[]) => Call | undefined);
  reasoning?: string;
  before: string;
  /** After the last tool has answered. */
  after?: (answer: string) => string;
}

const counterPage = (ground: string, ink: string): string =>
  [
    '```html title="bird-counter.html"',
    '<!doctype html>',
    '<title>Birds today</title>',
    '<style>',
    `  body { display: grid; place-content: center; gap: 16px; min-height: 100vh; margin: 0; background: ${ground}; color: ${ink}; font: 20px system-ui; text-align: center; }`,
    '  output { font-size: 96px; font-variant-numeric: tabular-nums; }',
    '  button { padding: 12px 24px; border: 0; border-radius: 999px; background: #1f7a6d; color: #fff; font: inherit; cursor: pointer; }',
    '</style>',
    '<h1>Birds today</h1>',
    '<output id="count">0</output>',
    '<button onclick="count.value++">One more</button>',
    '```',
  ].join('\n');

const PLAN = {
  goal: 'Count the herons of the lake this spring',
  steps: [
    'Ask the bird club for last year’s numbers',
    'Choose two mornings without wind in the last week of March',
    'Count from the north shore, twice, by two people',
    'Write the numbers into the wiki, with who counted',
  ],
};
/** What came of each step. */
const DONE: readonly string[] = [
  'Last year: 13 nests of grey herons, 3 of great egrets.',
  'March 24 and 27, from seven o’clock.',
  '14 and 14 nests: both counts agree.',
  'The page Nest count has them.',
];

const stepDone = (step: string): Call => ({
  name: 'plan_update',
  args: { status: 'completed', result: `${DONE[Number(step) - 1] ?? 'Done.'} (Made up: I am scripted.)` },
});
/** The number of the step that a plan is at, by what a tool for plans has answered. */
const stepOf = (answer = ''): string | undefined => /"currentStep":\s*"s(\d+)"/.exec(answer)?.[1];

const SCENES: readonly Scene[] = [
  {
    cue: /^Go on with the plan .* at its step s\d+:/s,
    tool: (said, answers) => {
      const step = answers.length === 0 ? /at its step s(\d+):/.exec(said)?.[1] : stepOf(answers.at(-1));
      return step === undefined ? undefined : stepDone(step);
    },
    before: 'I go on where the plan was left.',
    after: () =>
      'All steps are done, and the page **Plans** has what came of each. (The steps were made up; the plan and the way it is followed are real.)',
  },
  {
    cue: /skills\/[\w-]+\/SKILL\.md/,
    tool: (said, answers) => {
      const [path = '', name = ''] = /skills\/([\w-]+)\/SKILL\.md/.exec(said) ?? [];
      const content = `---\nname: ${name}\ndescription: How ${name} are made here. Read it before you make some.\n---\n\nShort and friendly, the most important thing first.\n`;
      return answers.length === 0 ? { name: 'file_write', args: { path, content } } : undefined;
    },
    before: 'A skill is a file with instructions, so I write one. Writing has an effect: it waits for your word.',
    after: (answer) =>
      /"written"/.test(answer)
        ? 'It is written, and the page **Skills** lists it. A message that begins with `/` and its name has it read first. (A real model would have asked you what belongs into it.)'
        : 'It was not written, and that is fine: without your word nothing is.',
  },
  {
    cue: /\b(plane?|plans|planifi(e|ca)|plano|planeje|piano|pianifica|zaplanuj)\b|план|меню|خط[ةّ]|計画|计划|规划/i,
    tool: (_, answers) => {
      if (answers.length === 0) return { name: 'plan_create', args: PLAN };
      return answers.length === 1 && stepOf(answers[0]) === '1' ? stepDone('1') : undefined;
    },
    before:
      'That takes several steps, so I make a plan of them and begin. (I am scripted: whatever is asked for, my plan is about herons.)',
    after: () => 'The first step is done, and here I stop. On the page **Plans** you see how far it is; **Go on** has me do the rest.',
  },
  {
    cue: /^\/thank-you\b/,
    before:
      '> Dear Robin,\n>\n> thank you for your count of the herons: both of yours agree, and that made our work easy. We hope to see you next spring.\n\nThree lines, as the skill **thank-you** says: the gateway gave it to me because your message began with its name. (The letter was written beforehand: I am scripted.)',
  },
  {
    cue: /\b(wrong|mistake|total)\b/i,
    reasoning: 'Three rows of the picture have nests: 14, 3 and 1. What stands at its foot should be their sum.',
    before:
      'The total. The rows come to **18** nests, and the page says **81**: two digits changed places. (I am scripted and saw no picture; a real model does.)\n\nYou need not describe such a place in words: **Annotate** on the picture lets you put a number on it, and sends it back here with your note.',
  },
  {
    cue: /\b(web ?page|html)\b/i,
    before: `Here is a small one. **Preview** opens it beside the chat, closed off from all networks. Then ask me to make it dark: that is its second version.\n\n${counterPage('#f4f7f5', '#16302b')}`,
  },
  { cue: /\bdark(er)?\b/i, before: `The same page for the evening:\n\n${counterPage('#10201d', '#e6f2ee')}` },
  {
    cue: /\b(run|tests?|command|approv\w*)\b/i,
    tool: { name: 'exec', args: { command: 'npm', args: ['test'], purpose: 'To see whether the project’s tests pass' } },
    before: 'I would run the tests of the project. Nothing runs before you have approved it.',
    after: (answer) =>
      /"exitCode":\s*0/.test(answer)
        ? 'All tests passed. Mind that this is the demo: the command and its output are made up, only the way to it – the request, your approval, the record – is real.'
        : 'It did not run, and that is fine: without your word nothing does.',
  },
  {
    cue: /\b(screen(shot)?|desktop)\b/i,
    tool: { name: 'desktop_screenshot', args: {} },
    before: 'I ask for a picture of the screen.',
    after: () =>
      'Here it is: a drawn desktop, for a demo sees no screen of yours. Open it with **Annotate** and draw on it; what you cover there reaches no model.',
  },
  {
    cue: /\b(wiki|herons?|contradict\w*)\b/i,
    tool: { name: 'wiki_contradictions', args: {} },
    reasoning: 'The wiki keeps claims with their evidence. Two of them may not agree; the tool for that tells which.',
    before: 'I look into the wiki.',
    after: () =>
      'Two claims on **Grey heron** do not agree: one says that it *builds its nests in trees*, the other that it *does not*. On the page **Wiki** you decide which one stands; the other keeps its history.',
  },
  {
    cue: /\b(time|clock|date|today)\b/i,
    tool: { name: 'current_time', args: {} },
    before: 'I look at the clock.',
    after: (answer) => `By the gateway’s clock: \`${answer.slice(0, 200)}\`. That was a real tool, called by a scripted model.`,
  },
  {
    cue: /hash|hachage|mieszając|хеш|ハッシュ|哈希/i,
    before: [
      'A hash map turns each key into a number, and the number into a place in a list. To find a key it counts where the key must be, and looks there alone:',
      '',
      '```ts',
      'const places = 8;',
      'const placeOf = (key: string) => [...key].reduce((sum, letter) => sum * 31 + letter.codePointAt(0)!, 7) % places;',
      '',
      "placeOf('heron'); // one place of eight, and always the same one",
      '```',
      '',
      'Two keys may come to the same place; there they stand in a short row, and the row is gone through. So a look costs about the same with ten keys as with ten million, as long as the list grows with them. (This answer was written beforehand: I am scripted.)',
    ].join('\n'),
  },
  {
    cue: /\b(note|letter|mail|declines?|meeting|termin)\b|reuni[óã]|réunion|riunione|spotkani|встреч|اجتماع|会議|会议/i,
    before: [
      '> Hello Robin,',
      '>',
      '> thank you for asking me. I cannot come on Thursday: I have promised that hour to someone else. Would you send me what is decided? If my part is needed, I gladly write it down beforehand.',
      '>',
      '> Have a good meeting!',
      '',
      'It thanks, says no once, and offers something. (It was written beforehand: I am scripted.)',
    ].join('\n'),
  },
  {
    cue: /\b(table|compare|sort|code|example)\b|tabel|tabla|tableau|таблиц|جدول|表/i,
    before: [
      'A scripted model can show how replies look:',
      '',
      '| sort | best | worst | stable |',
      '| --- | --- | --- | --- |',
      '| merge sort | n log n | n log n | yes |',
      '| quicksort | n log n | n² | no |',
      '| insertion sort | n | n² | yes |',
      '',
      '```ts',
      'const sorted = [...birds].sort((a, b) => a.name.localeCompare(b.name));',
      '```',
    ].join('\n'),
  },
];

const OTHERWISE = [
  'I am not a model: I follow a script, so that you can try Perch without a key and without a network. The gateway around me is the real one.',
  '',
  'Ask me, for instance, to',
  '- **run the tests** – I ask for a command, and you approve it;',
  '- **take a screenshot** – a picture that you can draw on;',
  '- **look for contradictions in the wiki**;',
  '- **tell the time** – a tool call;',
  '- **make a plan** – it is kept and followed step by step;',
  '- **compare ways to sort**, in a table;',
  '- **make a web page** – it runs beside the chat, closed off from everything.',
].join('\n');

const SEEN_PICTURE =
  'Your picture came, as a model would get it: what you drew is in its pixels, what you covered is not, and the notes on your numbers stand beside it as text. I am scripted and see none of it; with a model of yours this is where it answers.';

/** What a message of the person says: what was recalled for them stands before it, or in a message of its own, as if they had said it. */
const said = ({ content }: ModelMessage): string =>
  plainText(content)
    .replace(/\[recalled memory (\S+)\][^]*?\[end of recalled memory \1\]/, '')
    .trim();
/** Whether a person sent it, if only a picture. */
const asks = (message: ModelMessage): boolean => message.role === 'user' && (said(message) !== '' || plainText(message.content) === '');

const hasPicture = ({ content }: ModelMessage): boolean => typeof content !== 'string' && content.some(({ type }) => type === 'image');

/** The next line of the play; `tools` are the names of those that may be called. */
export function lineFor(messages: readonly ModelMessage[], tools: ReadonlySet<string>): Line {
  // Pictures behind the results of tools are given as if the person had sent them.
  const at = messages.findLastIndex((message, nth) => asks(message) && messages[nth - 1]?.role !== 'tool');
  const asked = messages[at];
  const words = asked ? said(asked) : '';
  const next = ({ tool }: Scene, answers: readonly string[]): Call | undefined =>
    typeof tool === 'function' ? tool(words, answers) : answers.length === 0 ? tool : undefined;
  const scene = SCENES.find((each) => each.cue.test(words) && (!each.tool || tools.has(next(each, [])?.name ?? '')));
  if (!scene) return { text: asked && hasPicture(asked) ? SEEN_PICTURE : OTHERWISE, calls: [] };
  const answers = messages.slice(at + 1).flatMap(({ role, content }) => (role === 'tool' ? [plainText(content)] : []));
  const call = next(scene, answers);
  const calls = call ? [{ id: `call_${crypto.randomUUID()}`, tool: call.name, args: call.args }] : [];
  const answer = answers.at(-1);
  if (answer !== undefined) return { text: call ? '' : (scene.after?.(answer) ?? OTHERWISE), calls };
  const { before, reasoning } = scene;
  return { ...(reasoning === undefined ? {} : { reasoning }), text: before, calls };
}
