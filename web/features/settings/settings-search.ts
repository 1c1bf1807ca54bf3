import MonitorSmartphone from '@lucide/svelte/icons/monitor-smartphone';
import type { Component } from 'svelte';
import { m } from '#app/i18n/messages.ts';
import { getPageGroups } from '#app/shell/page-groups.ts';

/** Additional search terms for sections of the settings, by section id. */
const SECTION_TERMS: Readonly<Record<string, () => string>> = {
  providers: () => m.settings_find_providers(),
  model: () => m.settings_find_model(),
  upstream: () => m.settings_find_upstream(),
  'tool-servers': () => m.settings_find_tool_servers(),
  browser: () => m.settings_find_browser(),
  scans: () => m.settings_find_scans(),
  appearance: () => m.settings_find_appearance(),
  voice: () => m.settings_find_voice(),
  notifications: () => m.settings_find_notifications(),
  connection: () => m.settings_find_connection(),
  keys: () => m.settings_find_keys(),
  storage: () => m.settings_find_storage(),
  'first-steps': () => m.settings_find_first_steps(),
  keyboard: () => m.settings_find_keyboard(),
};

/** The same for pages with settings of their own. */
const PAGE_TERMS: Readonly<Record<string, () => string>> = {
  '/memory': () => m.settings_find_memory(),
  '/sessions': () => m.settings_find_sessions(),
  '/prompts': () => m.settings_find_prompts(),
  '/schedules': () => m.settings_find_schedules(),
  '/approvals': () => m.settings_find_approvals(),
  '/agents': () => m.settings_find_agents(),
  '/channels': () => m.settings_find_channels(),
  '/models': () => m.settings_find_models(),
  '/tools': () => m.settings_find_tools(),
  '/usage': () => m.settings_find_usage(),
  '/logs': () => m.settings_find_logs(),
  '/doctor': () => m.settings_find_doctor(),
  '/backups': () => m.settings_find_backups(),
  '/devices': () => m.settings_find_devices(),
  '/console': () => m.settings_find_console(),
};

interface PageMatch {
  href: string;
  label: string;
  icon: Component<{ size?: number }>;
}

const normalize = (text: string): string => text.normalize('NFC').toLocaleLowerCase();

/** Splits a query into words. */
export const toSearchWords = (typed: string): string[] => normalize(typed).split(/\s+/u).filter(Boolean);

/** Whether a section contains all words. */
export function matchesSection(words: readonly string[], id: string, content: string): boolean {
  const text = normalize(`${content} ${SECTION_TERMS[id]?.() ?? ''}`);
  return words.every((word) => text.includes(word));
}

/** Finds pages that match all words; none without words. */
export function findPages(words: readonly string[]): PageMatch[] {
  if (words.length === 0) return [];
  const devices = { href: '/devices', label: m.shell_devices_link(), icon: MonitorSmartphone };
  return [...getPageGroups().flatMap(({ pages }) => pages), devices].filter(({ href, label }) => {
    const pageWords = normalize(`${label} ${PAGE_TERMS[href]?.() ?? ''}`).split(' ');
    return words.every((word) => pageWords.some((each) => each.startsWith(word)));
  });
}
