import { Marked } from 'marked';

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const markdown = new Marked({
  gfm: true,
  breaks: true,
  // HTML in an answer is text.
  renderer: { html: ({ text }) => escapeHtml(text), image: ({ text, href }) => escapeHtml(text || href) },
});

/** A message in Markdown as HTML: without pictures, which would be loaded from outside. */
export const toMessageHtml = (text: string): string => markdown.parse(text, { async: false }).trim();
