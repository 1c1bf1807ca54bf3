import remend from 'remend';
import { withoutOverrides } from '#shared/seen.ts';
import { m } from '#lib/i18n/later.ts';
import { makeNoteLink, NOTE_REFERENCE } from './footnote-links.ts';
import { showMath } from './math/show-math.ts';
import { BARE, MOST_LEVELS, reader } from './reader.ts';
import { sanitize } from './sanitize.ts';

const OWN_PICTURE = /^data:image\/(png|jpeg|gif|webp|avif);base64,/i;

/** One line of prose without any mark-up, which most of a growing answer is: it needs no parser. */
const PLAIN = /^(?! {0,3}(?:[-+=]|\d+[.)])| {4}|\t)(?!.*(?:[*_`[\]<>&!#|~\\$@^]|:\/\/|www\.| {2}$))[^\n]+\n*$/;

const WITHOUT_END = new Set(['br', 'hr']);

/** Number of raw HTML elements that are open at the current position. */
let levels = 0;

/** Maximum number of brackets up to which half-open elements are closed, which takes quadratic time. */
const MOST_BRACKETS = 500;

/** Labels of the text's footnotes by their numbers. */
let noteLabels: readonly string[] = [];

const marked = reader({
  extensions: [{ name: 'footnoteReference', renderer: ({ raw, ...token }) => noteReference(String(token['label'])) ?? escapeHtml(raw) }],
  renderer: {
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => bare(text),
  },
});

function bare(html: string): string {
  return html
    .replace(/<!--[^]*?-->/g, '')
    .split(/(<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?\/?>)/i)
    .map((piece, index) => {
      const tag = index % 2 === 1 ? /^<(\/?)([a-z0-9]+)/i.exec(piece) : null;
      const name = tag?.[2]?.toLowerCase() ?? '';
      return tag && BARE.has(name) && fits(name, tag[1] === '/') ? `<${tag[1]}${name}>` : escapeHtml(piece);
    })
    .join('');
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** In brackets, so that a number that is copied with its text stays apart from it. */
function noteReference(label: string): string | undefined {
  const number = noteLabels.indexOf(label) + 1;
  return number === 0 ? undefined : `<sup class="${NOTE_REFERENCE}">[${number}]</sup>`;
}

/** Whether one more element may begin or end here; elements that are nested too deeply become text. */
function fits(name: string, ends: boolean): boolean {
  if (WITHOUT_END.has(name)) return true;
  if (ends ? levels === 0 : levels >= MOST_LEVELS) return false;
  levels += ends ? -1 : 1;
  return true;
}

/**
 * Renders Markdown as nodes that are safe to insert: sanitized, with links that open in a new tab, and without external pictures (their
 * addresses are shown instead, so that reading a reply contacts no other server). `growing` closes half-open elements; `labels` are the
 * labels of the text's footnotes by number.
 */
export function render(written: string, growing: boolean, labels: readonly string[] = []): DocumentFragment {
  const source = withoutOverrides(written);
  if (PLAIN.test(source)) return paragraph(source.trim());
  const closes = growing && source.split('[', MOST_BRACKETS + 2).length <= MOST_BRACKETS + 1;
  const whole = closes ? remend(source, { katex: false, linkMode: 'text-only' }) : source;
  levels = 0;
  noteLabels = labels;
  const fragment = sanitize(marked.parse(whole, { async: false }));
  for (const image of fragment.querySelectorAll('img'))
    if (!OWN_PICTURE.test(image.getAttribute('src') ?? '')) image.replaceWith(addressOf(image));
  for (const link of fragment.querySelectorAll('a')) direct(link);
  for (const item of fragment.querySelectorAll('li')) if (/^[☑☐] /.test(item.textContent)) item.className = 'task';
  for (const table of fragment.querySelectorAll('table')) scrollable(table);
  for (const reference of fragment.querySelectorAll<HTMLElement>(`sup.${NOTE_REFERENCE}`)) makeNoteLink(reference);
  showMath(fragment);
  return fragment;
}

function paragraph(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(Object.assign(document.createElement('p'), { textContent: text }));
  return fragment;
}

function addressOf(image: HTMLImageElement): HTMLElement {
  const address = image.getAttribute('src') ?? '';
  const link = document.createElement('a');
  link.className = 'picture';
  if (/^https?:/i.test(address)) link.href = address;
  link.textContent = image.alt ? m.reply_picture_named({ name: image.alt, address }) : m.reply_picture({ address });
  // A link within a link would be torn apart.
  return image.closest('a') ? Object.assign(document.createElement('span'), { textContent: link.textContent }) : link;
}

function direct(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href');
  if (href === null || href.startsWith('#')) return;
  const url = URL.parse(href, location.href);
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return link.removeAttribute('href');
  if (url.origin === location.origin) return;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
}

function scrollable(table: HTMLTableElement): void {
  const frame = document.createElement('div');
  frame.className = 'table';
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', m.reply_table());
  table.replaceWith(frame);
  frame.append(table);
}
