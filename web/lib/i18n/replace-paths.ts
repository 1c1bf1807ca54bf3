import { getDirection, locale } from './locale.ts';
import { isolate } from './message-functions.ts';

/**
 * Replaces setting paths in English messages of the gateway and the bridge by the labels of their fields. `path` is a global pattern that
 * captures the path and the setting's name; `label` returns undefined for a setting without a field.
 */
export function replacePathsByLabels(sentence: string, path: RegExp, label: (setting: string) => string | undefined): string {
  return sentence.replaceAll(path, (match: string, setting: string) => {
    const labelText = label(setting);
    if (labelText === undefined) return match;
    // The mark is for sentences that begin with the label: `dir="auto"` looks at letters that are kept apart, too.
    return getDirection(locale) === 'rtl' ? `\u200e“${isolate(labelText)}”` : `“${labelText}”`;
  });
}
