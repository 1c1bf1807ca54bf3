import { chatGpt } from './chatgpt.ts';
import type { ChatFormat } from './chat-format.ts';
import { claude } from './claude.ts';
import { gemini } from './gemini.ts';
import { jan } from './jan.ts';
import { libreChat } from './librechat.ts';
import { lmStudio } from './lm-studio.ts';
import { lobeHub } from './lobehub.ts';
import { openClaw } from './openclaw.ts';
import { openWebUi } from './open-webui.ts';

/** Chat formats, tried in this order. */
export const CHAT_FORMATS: readonly ChatFormat[] = [chatGpt, claude, openWebUi, libreChat, lobeHub, lmStudio, jan, openClaw, gemini];
