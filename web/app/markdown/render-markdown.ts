import remend from 'remend';
import { stripBidiOverrides } from '#shared/display-name.ts';
import { m } from '../i18n/messages.ts';
import { makeFootnoteLink, REFERENCE_CLASS } from './footnote-links.ts';
import { renderMath } from './math/render-math.ts';
import { BARE_HTML, MAX_NESTING, markdownParser } from './markdown-parser.ts';
import { sanitizeHtml } from './sanitize-html.ts';

const DATA_IMAGE = /^data:image\/(png|jpeg|gif|webp|avif);base64,/i;

/** One line of prose without mark-up, the most common block of a growing reply, which needs no parser. */
const PLAIN_LINE = /^(?! {0,3}(?:[-+=]|\d+[.)])| {4}|\t)(?!.*(?:[*_`[\]<>&!#|~\\$@^]|:\/\/|www\.| {2}$))[^\n]+\n*$/;

const UNCLOSED = new Set(['br', 'hr']);

/** Number of raw HTML elements that are open at the current position. */
let openElements = 0;

/** Maximum number of brackets up to which half-open elements are closed, which takes quadratic time. */
const MAX_BRACKETS = 500;

/** Labels of the text's footnotes by their numbers. */
let footnoteLabels: readonly string[] = [];

const marked = markdownParser({
  extensions: [
    { name: 'footnoteReference', renderer: ({ raw, ...token }) => renderFootnoteReference(String(token['label'])) ?? escapeHtml(raw) },
  ],
  renderer: {
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    html: ({ text }) => toBareHtml(text),
  },
});

function toBareHtml(html: string): string {
  return html
    .replace(/<!--[^]*?-->/g, '')
    .split(/(<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?\/?>)/i)
    .map((piece, index) => {
      const tag = index % 2 === 1 ? /^<(\/?)([a-z0-9]+)/i.exec(piece) : null;
      const name = tag?.[2]?.toLowerCase() ?? '';
      return tag && BARE_HTML.has(name) && canNest(name, tag[1] === '/') ? `<${tag[1]}${name}>` : escapeHtml(piece);
    })
    .join('');
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Renders a reference in brackets, so that a copied number stays separate from the text. */
function renderFootnoteReference(label: string): string | undefined {
  const number = footnoteLabels.indexOf(label) + 1;
  return number === 0 ? undefined : `<sup class="${REFERENCE_CLASS}">[${number}]</sup>`;
}

/** Whether one more element may begin or end here; elements that are nested too deeply become text. */
function canNest(name: string, isClosing: boolean): boolean {
  if (UNCLOSED.has(name)) return true;
  if (isClosing ? openElements === 0 : openElements >= MAX_NESTING) return false;
  openElements += isClosing ? -1 : 1;
  return true;
}

/**
 * Renders Markdown as nodes that are safe to insert: sanitized, with links that open in a new tab, and without external pictures (their
 * addresses are shown instead, so that reading a reply contacts no other server). `growing` closes half-open elements; `labels` are the
 * labels of the text's footnotes by number.
 */
export function renderMarkdown(markdown: string, growing: boolean, labels: readonly string[] = []): DocumentFragment {
  const source = stripBidiOverrides(markdown);
  if (PLAIN_LINE.test(source)) return createParagraph(source.trim());
  const shouldComplete = growing && source.split('[', MAX_BRACKETS + 2).length <= MAX_BRACKETS + 1;
  const completed = shouldComplete ? remend(source, { katex: false, linkMode: 'text-only' }) : source;
  openElements = 0;
  footnoteLabels = labels;
  const fragment = sanitizeHtml(marked.parse(completed, { async: false }));
  for (const image of fragment.querySelectorAll('img'))
    if (!DATA_IMAGE.test(image.getAttribute('src') ?? '')) image.replaceWith(getImageAddress(image));
  for (const link of fragment.querySelectorAll('a')) toDirectLink(link);
  for (const item of fragment.querySelectorAll('li')) if (/^[☑☐] /.test(item.textContent)) item.className = 'task';
  for (const table of fragment.querySelectorAll('table')) wrapTable(table);
  for (const reference of fragment.querySelectorAll<HTMLElement>(`sup.${REFERENCE_CLASS}`)) makeFootnoteLink(reference);
  renderMath(fragment);
  return fragment;
}

function createParagraph(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(Object.assign(document.createElement('p'), { textContent: text }));
  return fragment;
}

function getImageAddress(image: HTMLImageElement): HTMLElement {
  const address = image.getAttribute('src') ?? '';
  const link = document.createElement('a');
  link.className = 'picture';
  if (/^https?:/i.test(address)) link.href = address;
  link.textContent = image.alt ? m.reply_picture_named({ name: image.alt, address }) : m.reply_picture({ address });
  // Nested links are invalid and would be split.
  return image.closest('a') ? Object.assign(document.createElement('span'), { textContent: link.textContent }) : link;
}

function toDirectLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href');
  if (href === null || href.startsWith('#')) return;
  const url = URL.parse(href, location.href);
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return link.removeAttribute('href');
  if (url.origin === location.origin) return;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
}

function wrapTable(table: HTMLTableElement): void {
  const frame = document.createElement('div');
  frame.className = 'table';
  frame.tabIndex = 0;
  frame.setAttribute('role', 'region');
  frame.setAttribute('aria-label', m.reply_table());
  table.replaceWith(frame);
  frame.append(table);
}
