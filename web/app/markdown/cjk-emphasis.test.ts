import { expect, test } from 'vitest';
import { markdownParser } from './markdown-parser.ts';

const marked = markdownParser();
const html = (text: string): string => marked.parse(text, { async: false }).trim();

test('emphasis next to marks of Chinese, Japanese and Korean', () => {
  expect(html('**「重点」**のが重要')).toBe('<p><strong>「重点」</strong>のが重要</p>');
  expect(html('**加粗内容。**后续')).toBe('<p><strong>加粗内容。</strong>后续</p>');
  expect(html('これは**「強調」**です。*（注）*だ')).toBe('<p>これは<strong>「強調」</strong>です。<em>（注）</em>だ</p>');
  expect(html('请用**npm (v10)**安装')).toBe('<p>请用<strong>npm (v10)</strong>安装</p>');
  expect(html('说明**`a.ts`**文件')).toBe('<p>说明<strong><code>a.ts</code></strong>文件</p>');
  expect(html('**스크립트(script)**라고')).toBe('<p><strong>스크립트(script)</strong>라고</p>');
  expect(html('~~旧的。~~新的')).toBe('<p><del>旧的。</del>新的</p>');
  expect(html('***「両方」***の')).toBe('<p><em><strong>「両方」</strong></em>の</p>');
});

test('emphasis of other scripts stays CommonMark’s', () => {
  expect(html('**a "b"**c')).toBe('<p>**a &quot;b&quot;**c</p>');
  expect(html('2 * 3 * 4, snake_case_name, a**b**c')).toBe('<p>2 * 3 * 4, snake_case_name, a<strong>b</strong>c</p>');
  expect(html('**bold**, *it*. (**x**) ~~y~~!')).toBe('<p><strong>bold</strong>, <em>it</em>. (<strong>x</strong>) <del>y</del>!</p>');
  expect(html('面积 3 * 4 * 5 米')).toBe('<p>面积 3 * 4 * 5 米</p>');
});

test('an address ends before a mark of these scripts', () => {
  const link = (url: string): string => `<a href="${url}">${url}</a>`;
  expect(html('请看 https://example.com/docs。谢谢')).toBe(`<p>请看 ${link('https://example.com/docs')}。谢谢</p>`);
  expect(html('（https://example.com/x）です')).toBe(`<p>（${link('https://example.com/x')}）です</p>`);
  expect(html('“https://example.com/a?b=1”，https://example.com/c、')).toBe(
    `<p>“${link('https://example.com/a?b=1')}”，${link('https://example.com/c')}、</p>`,
  );
  expect(html('https://example.com.。')).toBe(`<p>${link('https://example.com')}.。</p>`);
  expect(html('见 https://zh.wikipedia.org/wiki/中文 条目')).toContain('href="https://zh.wikipedia.org/wiki/%E4%B8%AD%E6%96%87"');
});
