import { truncateText } from '#shared/truncate-text.ts';
import { isJsonPath, readJsonPath } from './read-json-path.ts';

/** Maximum number of characters of one value, and of the whole text. */
const MAX_VALUE_CHARS = 4_000;
const MAX_TEXT_CHARS = 20_000;

const PLACEHOLDER = /\{\{\s*([^{}]{1,500}?)\s*\}\}/g;
const NAMES = ['message', 'event', 'body'] as const;

/** What a template can show of a call. */
interface TemplateValues {
  /** Readable summary of the call. */
  message: string;
  event: string;
  payload: unknown;
}

/** The first placeholder of a template that means nothing; undefined if there is none. */
export const findUnknownPlaceholder = (template: string): string | undefined =>
  [...template.matchAll(PLACEHOLDER)]
    .map(([, name = '']) => name)
    .find((name) => !NAMES.some((each) => each === name) && !isJsonPath(name));

/** Fills in a template. Values that are missing become empty, and long ones are shortened. */
export function renderTemplate(template: string, { message, event, payload }: TemplateValues): string {
  const text = template.replaceAll(PLACEHOLDER, (_, name: string) => {
    if (name === 'message') return message;
    if (name === 'event') return event;
    if (name === 'body') return truncateText(JSON.stringify(payload, null, 2) ?? '', MAX_VALUE_CHARS);
    return truncateText(readJsonPath(payload, name).map(toText).join(', '), MAX_VALUE_CHARS);
  });
  return truncateText(text, MAX_TEXT_CHARS);
}

/** A value of a payload as text: objects as JSON. */
export const toText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
