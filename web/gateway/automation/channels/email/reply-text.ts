/** Line before a quoted mail, such as "On Monday, Ada <ada@example.org> wrote:", in the languages of common mail programs. */
const ATTRIBUTION =
  /(wrote|schrieb|écrit|escribió|scritto|escreveu|schreef|skrev|kirjoitti|napisał|napisała|napisał\(a\)|pisze|пишет|написал|написала|写道|寫道|のメッセージ|작성|كتب).{0,200}[:：]\s*$/iu;
/** Start of an attribution that is wrapped into several lines. */
const ATTRIBUTION_START = /^\s*(on|am|le|el|il|em|op|w dniu|dnia|den|\p{L}{2,3}\.?,|20\d\d|在|\d{1,2}[./])/iu;
/** Line before a mail that a program quotes without marks, such as "-----Original Message-----". */
const ORIGINAL =
  /^\s*(-{2,}|_{2,})\s*(original message|ursprüngliche nachricht|message d['’]origine|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|wiadomość oryginalna|исходное сообщение|原始邮件|元のメッセージ)\s*(-{2,}|_{2,})?\s*$/iu;
/** First of the lines with which Outlook introduces a quoted mail; a second one follows. */
const FROM_LINE = /^\s*\**(from|von|de|da|van|od|от|发件人|差出人|من)\s?\**\s?[:：].{1,300}$/iu;
const SENT_LINE =
  /^\s*\**(sent|date|gesendet|datum|envoyé|enviado|enviada|inviato|data|verzonden|wysłano|отправлено|дата|发送时间|日期|送信日時|تاريخ|to|an|à|para|a|aan|do|кому)\s?\**\s?[:：].{1,300}$/iu;
/** Line before a forwarded mail. */
const FORWARDED =
  /^\s*(-{2,}\s*(forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht|wiadomość przekazana|пересылаемое сообщение|转发的邮件|転送メッセージ)|begin forwarded message:)/iu;
const QUOTE_OR_BLANK = /^\s*(>|$)/;
const SIGNATURE = /^-- ?$/;
/** An attribution may be wrapped into this many lines. */
const MAX_ATTRIBUTION_LINES = 3;
/** Longer lines are no attribution. */
const MAX_LINE_CHARS = 1000;

interface ReplyText {
  text: string;
  /** Whether text of others remains: a forwarded mail, or quotes between the sender's lines. */
  quotesOthers: boolean;
}

/** Removes the quoted history and the signature of a mail. If nothing else is in it, all is kept. */
export function readReplyText(source: string): ReplyText {
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  const forwarded = lines.findIndex((line) => FORWARDED.test(line.slice(0, MAX_LINE_CHARS)));
  // A forwarded mail is what the sender writes about.
  if (forwarded !== -1) return { text: source.trim(), quotesOthers: true };
  const lastOwn = lines.findLastIndex((line) => !QUOTE_OR_BLANK.test(line) && !SIGNATURE.test(line));
  const end = lines.findIndex((_, index) => isHistoryStart(lines, index, lastOwn));
  const kept = (end === -1 ? lines : lines.slice(0, end)).join('\n').trim();
  if (kept === '') return { text: source.trim(), quotesOthers: source.trim() !== '' && end !== -1 };
  return { text: kept, quotesOthers: /^\s*>/m.test(kept) };
}

/** `lastOwn`: the last line that is no quote. */
function isHistoryStart(lines: readonly string[], index: number, lastOwn: number): boolean {
  const line = lines[index] ?? '';
  if (line.length > MAX_LINE_CHARS) return false;
  if (SIGNATURE.test(line) || ORIGINAL.test(line)) return true;
  if (FROM_LINE.test(line)) return lines.slice(index + 1, index + 4).some((next) => SENT_LINE.test(next.slice(0, MAX_LINE_CHARS)));
  // Quotes to the end of the mail; before others, the sender's own lines go on.
  if (/^\s*>/.test(line)) return index > lastOwn;
  if (line.trim() === '') return false;
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const text = lines.slice(index, index + count).join(' ');
    if (text.length > MAX_LINE_CHARS || (count > 1 && !ATTRIBUTION_START.test(line))) return false;
    if (!ATTRIBUTION.test(text)) continue;
    const next = lines.slice(index + count).find((each) => each.trim() !== '');
    return next === undefined || /^\s*>/.test(next);
  }
  return false;
}
