import { directionOf, locale } from './locale.ts';
import { apart } from './words.ts';

/**
 * Replaces setting paths in English messages of the gateway and the bridge by the labels of their fields. `path` is a global pattern that
 * captures the path and the setting's name; `label` returns undefined for a setting without a field.
 */
export function byLabels(sentence: string, path: RegExp, label: (setting: string) => string | undefined): string {
  return sentence.replaceAll(path, (found: string, setting: string) => {
    const said = label(setting);
    if (said === undefined) return found;
    // The mark is for sentences that begin with the label: `dir="auto"` looks at letters that are kept apart, too.
    return directionOf(locale) === 'rtl' ? `\u200e“${apart(said)}”` : `“${said}”`;
  });
}
