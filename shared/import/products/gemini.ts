import { htmlToMarkdown } from '../html-to-markdown.ts';
import {
  type ImportedChat,
  isFields,
  joinParagraphs,
  orderMessages,
  type PictureRef,
  toMessageChain,
  toChat,
  toFields,
  toList,
  toMessage,
  toStrings,
  toText,
  toTime,
} from '../imported-chat.ts';
import type { ChatFormat } from './chat-format.ts';
import { type ActivityRecord, readActivityPage } from './gemini-html.ts';

/** Records without the address of a chat: after such a pause a new chat starts. */
const MAX_PAUSE_MS = 30 * 60_000;
const PROMPT = /^(?:Prompted with:|Asked (?:Gemini|Bard):|Prompted|Asked|Said|Branched|Answered)\s+/;
/** Titles of records that are not prompts. */
const NO_PROMPT = /^(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned|Renamed|Exported|Updated)\s/;
const ATTACHED = /\s*Attached \d+ files?\.?\s*$/i;
const MAX_TITLE_CHARS = 80;
const CHAT = /https:\/\/gemini\.google\.com\/(?:u\/\d+\/)?(?:app|gem\/[\w-]+)\/([\w-]{6,})/;

/** Gemini: `My Activity/Gemini Apps/MyActivity.json` or `.html` of Google Takeout. */
export const gemini: ChatFormat = {
  product: 'Gemini',
  fromValue: (value) => {
    if (!isFields(value) || typeof value['title'] !== 'string' || !isGemini(value)) return null;
    const chat = toExchange(value);
    return chat ? [chat] : [];
  },
  fromHtml(html) {
    const page = readActivityPage(html);
    return page && { chats: page.records.flatMap((record) => toExchange(toRecord(record)) ?? []), unrecognized: page.unrecognized };
  },
  join: joinExchanges,
};

/** A record as the JSON export has it. The page sets verbs apart, so those of other languages can be left out. */
const toRecord = ({ verb, prompt, answer, time, url, files }: ActivityRecord): Readonly<Record<string, unknown>> => ({
  title: verb !== '' && answer.trim() !== '' && !NO_PROMPT.test(`${verb} `) ? `Prompted ${prompt}` : `${verb} ${prompt}`,
  time: new Date(time).toISOString(),
  titleUrl: url,
  safeHtmlItem: [{ html: answer }],
  attachedFiles: files,
});

const isGemini = ({ header, products }: Readonly<Record<string, unknown>>): boolean =>
  [toText(header), ...toStrings(products)].some((name) => /gemini|bard/i.test(name));

/** A record as a chat of one question and its answer. */
function toExchange(record: Readonly<Record<string, unknown>>): ImportedChat | null {
  const title = toText(record['title']).replaceAll('\u00a0', ' ').trim();
  const answer = joinParagraphs(toList(record['safeHtmlItem']).map((item) => htmlToMarkdown(toText(toFields(item)['html']))));
  // Verbs are translated; a record in another language is a prompt if it was answered.
  if (NO_PROMPT.test(title) || (!PROMPT.test(title) && answer === '')) return null;
  const question = title.replace(PROMPT, '').replace(ATTACHED, '').trim();
  const timestamp = toTime(record['time'], 0);
  if (timestamp === 0) return null;
  const files = [toText(record['imageFile']), ...toStrings(record['attachedFiles'])].filter((name) => name !== '');
  const isPicture = (name: string): boolean => /\.(png|jpe?g|gif|webp)$/i.test(name);
  const pictures = files.filter(isPicture).map((file): PictureRef => ({ file }));
  const messages = [
    toMessage({ role: 'user', text: question, pictures, timestamp }),
    toMessage({ role: 'assistant', text: answer, timestamp: timestamp + 1 }),
  ].filter((message) => message !== null);
  return toChat({
    id: CHAT.exec(JSON.stringify([record['titleUrl'], record['details'], record['subtitles']]))?.[1] ?? '',
    title: question.slice(0, MAX_TITLE_CHARS),
    messages: orderMessages(toMessageChain(messages), String(messages.length - 1)),
    leftOut: files.filter((name) => !isPicture(name)),
  });
}

const getStartTime = ({ messages }: ImportedChat): number => messages[0]?.timestamp ?? 0;

/** Joins exchanges with the same chat address, or close in time, into one chat. */
function joinExchanges(exchanges: readonly ImportedChat[]): ImportedChat[] {
  const sorted = exchanges.filter(({ messages }) => messages.length > 0).toSorted((a, b) => getStartTime(a) - getStartTime(b));
  const { addressed = [], loose = [] } = Object.groupBy(sorted, ({ id }) => (id === '' ? 'loose' : 'addressed'));
  const groups: ImportedChat[][] = [];
  for (const chat of loose) {
    const last = groups.at(-1)?.at(-1);
    if (last && getStartTime(chat) - getStartTime(last) <= MAX_PAUSE_MS) groups.at(-1)?.push(chat);
    else groups.push([chat]);
  }
  return [...Map.groupBy(addressed, ({ id }) => id).values(), ...groups].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const chain = toMessageChain(group.flatMap(({ messages }) => messages.map(({ id: _id, parentId: _parent, ...message }) => message)));
    // Pages have no fractions of seconds.
    const id = first.id || String(Math.floor(getStartTime(first) / 1000) * 1000);
    return [
      {
        ...first,
        id: `gemini-${id}`,
        messages: orderMessages(chain, String(chain.length - 1)),
        leftOut: group.flatMap(({ leftOut }) => leftOut),
      },
    ];
  });
}
