import { m } from '#lib/i18n/pages.ts';
import { sentence, type Standing } from './words.ts';

interface Explained {
  /** Two or three words, for a heading. */
  short: string;
  /** Meaning and consequences. */
  about: string;
}

/** How safe this browser's data is, at more length than its dot says. */
export function explained({ name, problem }: Standing): Explained {
  const why = problem === null ? null : { problem: sentence(problem) };
  switch (name) {
    case 'older':
      return { short: m.devices_sync_older(), about: m.devices_sync_older_about() };
    case 'no_copy':
      return { short: m.devices_sync_no_copy(), about: why ? m.devices_sync_no_copy_why(why) : m.devices_sync_no_copy_about() };
    case 'alone':
      return { short: m.devices_sync_alone(), about: m.devices_sync_alone_about() };
    case 'shared':
      return { short: m.devices_sync_shared(), about: m.devices_sync_shared_about() };
    case 'unshared':
      return { short: m.devices_sync_unshared(), about: why ? m.devices_sync_failing_why(why) : m.devices_sync_unshared_about() };
    case 'on_disk':
      return { short: m.devices_sync_on_disk(), about: m.devices_sync_on_disk_about() };
    case 'catching_up':
      return { short: m.devices_sync_catching_up(), about: m.devices_sync_catching_up_about() };
    case 'not_on_disk':
      return { short: m.devices_sync_not_on_disk(), about: why?.problem ?? m.devices_sync_bridge_away_about() };
    case 'bridge_away':
      return { short: m.devices_sync_bridge_away(), about: why?.problem ?? m.devices_sync_bridge_away_about() };
    case 'failing':
      return { short: m.devices_sync_failing(), about: why ? m.devices_sync_failing_why(why) : m.devices_sync_failing_about() };
    case 'unknown':
      return { short: m.devices_sync_unknown(), about: m.devices_sync_unknown_about() };
  }
}
