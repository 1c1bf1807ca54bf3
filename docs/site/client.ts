import MiniSearch from 'minisearch';
import { toSearchText } from './search-text.ts';

interface Section {
  id: string;
  title: string;
  page: string;
  text: string;
}

const find = <E extends Element>(selector: string, within: ParentNode = document): E => {
  const found = within.querySelector<E>(selector);
  if (found === null) throw new Error(`No element matches ${selector}`);
  return found;
};

const dialog = find<HTMLDialogElement>('#results');
const input = find<HTMLInputElement>('input', dialog);
const list = find<HTMLOListElement>('ol', dialog);
const status = find<HTMLParagraphElement>('[role=status]', dialog);
const MAX_RESULTS = 12;
const EXCERPT_LENGTH = 140;

let index: Promise<MiniSearch<Section>> | undefined;

/** Loads the sections and indexes them; again at the next search if that failed. */
function loadIndex(): Promise<MiniSearch<Section>> {
  index ??= (async () => {
    const response = await fetch('sections.json');
    if (!response.ok) throw new Error(`sections.json: ${String(response.status)}`);
    const mini = new MiniSearch<Section>({
      fields: ['title', 'keywords', 'text'],
      storeFields: ['id', 'title', 'page', 'text'],
      searchOptions: { boost: { title: 4, keywords: 2 }, prefix: true, fuzzy: 0.15 },
    });
    mini.addAll((await response.json()) as Section[]);
    return mini;
  })();
  index.catch(() => (index = undefined));
  return index;
}

/** Whole words around a position. */
function toExcerpt(text: string, at: number): string {
  const start = at > 40 ? text.indexOf(' ', at - 40) + 1 : 0;
  const end = text.lastIndexOf(' ', at + EXCERPT_LENGTH);
  return `${start > 0 ? '…' : ''}${end > at ? `${text.slice(start, end)}…` : text.slice(start)}`;
}

function createResultItem(section: Section, words: readonly string[]): HTMLLIElement {
  const plain = toSearchText(section.text);
  const at = Math.max(
    0,
    plain.toLowerCase().search(new RegExp(words.map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, '.')).join('|'), 'u')),
  );
  const [item, link, where, excerpt] = (['li', 'a', 'small', 'span'] as const).map((tag) => document.createElement(tag)) as [
    HTMLLIElement,
    HTMLAnchorElement,
    HTMLElement,
    HTMLElement,
  ];
  const [page = '', part = ''] = section.id.split('#');
  link.href = `${page}.html#${part}`;
  link.textContent = section.title;
  where.textContent = section.page;
  excerpt.textContent = toExcerpt(plain, at);
  link.append(where, excerpt);
  item.append(link);
  return item;
}

async function search(): Promise<void> {
  const query = input.value.trim();
  if (query === '') {
    list.replaceChildren();
    status.textContent = '';
    return;
  }
  try {
    const mini = await loadIndex();
    if (query !== input.value.trim()) return;
    const results = mini.search(query).slice(0, MAX_RESULTS);
    list.replaceChildren(...results.map((result) => createResultItem(result as unknown as Section, result.queryTerms)));
    status.textContent = results.length === 0 ? `No results for “${query}”` : '';
  } catch {
    status.textContent = 'Couldn’t load the search. Check your connection and try again.';
  }
}

function openSearch(): void {
  dialog.showModal();
  input.select();
  loadIndex().catch(() => undefined);
}

find('#search').addEventListener('click', openSearch);
input.addEventListener('input', () => void search());
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog || (target as Element).closest('a') !== null) dialog.close();
});
dialog.addEventListener('keydown', (event) => {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
  else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : input)?.focus();
  else if (event.key === 'Enter' && at < 0) links[0]?.click();
  else return;
  event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, [contenteditable]');
  const isShortcut = event.key === '/' || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey));
  if (!isShortcut || isTyping || dialog.open) return;
  event.preventDefault();
  openSearch();
});

const menu = find<HTMLButtonElement>('#menu');
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu');
  menu.setAttribute('aria-expanded', String(isOpen));
});

find('#theme').addEventListener('click', () => {
  const root = document.documentElement;
  const isDark =
    getComputedStyle(root).colorScheme === 'dark' ||
    (root.dataset['theme'] === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset['theme'] = isDark ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', root.dataset['theme']);
  } catch {
    // Blocked storage: the theme lasts for this page.
  }
});

document.addEventListener('click', ({ target }) => {
  const button = (target as Element).closest<HTMLButtonElement>('[data-copy]');
  if (button === null) return;
  void navigator.clipboard.writeText(button.parentElement?.querySelector('code')?.textContent ?? '').then(
    () => (button.textContent = 'Copied'),
    () => (button.textContent = 'Couldn’t copy'),
  );
});
