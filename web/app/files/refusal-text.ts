import type { ImportErrorCode } from '#shared/import/import-error.ts';
import { m } from '../i18n/messages.ts';

/** Why a file was not imported, in the person's language. */
export const getRefusalText = (refusal: ImportErrorCode): string =>
  ({
    empty: m.chat_import_empty,
    tooLarge: m.chat_import_too_large,
    innerTooLarge: m.chat_import_inner_too_large,
    nothingInside: m.chat_import_no_inner,
    brokenZip: m.chat_import_broken_zip,
    damaged: m.chat_import_damaged,
    noSpeaker: m.chat_import_no_speaker,
    notJson: m.chat_import_no_json,
    unknown: m.chat_import_unknown,
    notUtf8: m.chat_import_not_utf8,
    geminiHtml: m.chat_import_gemini_html,
    notes: m.chat_import_notes,
  })[refusal]();
