/**
 * Synonyms for what Perch's tools do, used only by `tool_search` and not sent to models. English first, then German, Spanish, French,
 * Italian, Portuguese, Japanese and Chinese, because small models search in the user's language.
 */
export const TOOL_KEYWORDS: ReadonlyMap<string, string> = new Map([
  [
    'agent_run',
    'subagent sub-agent subagents delegate hand parallel side by side workers helpers split research task team unteragenten delegieren aufteilen gleichzeitig helfer subagente subagentes delegar paralelo repartir sous-agent sous-agents déléguer parallèle sottoagente delegare parallelo サブエージェント 並行 任せる 分担 子代理 委派 并行 分工',
  ],
  [
    'browser_click',
    'press push tap button link element checkbox select klicken klick knopf schaltfläche drücken clic botón pulsar haz cliquer bouton cliccare pulsante clicar botão クリック ボタン 押す 点击 按钮',
  ],
  [
    'browser_close',
    'quit exit end browser tab window schließen schliessen beenden cerrar navegador fermer chiudere fechar ブラウザ 閉じる 关闭 浏览器',
  ],
  [
    'browser_dialogs',
    'alert confirm prompt popup dismiss accept answer website dialog bestätigen aceptar diálogo boîte dialogue ダイアログ 对话框',
  ],
  ['browser_evaluate', 'javascript script code console dom execute run page skript ausführen ejecutar exécuter スクリプト 脚本'],
  ['browser_focus', 'switch change activate select tab wechseln reiter cambiar pestaña changer onglet タブ 切り替え 标签 切换'],
  [
    'browser_open',
    'go visit navigate open website site url page browser tab öffnen seite besuchen webseite abrir navegador página ouvrir site aprire sito ブラウザ 開く サイト 打开 网站 浏览器',
  ],
  [
    'browser_screenshot',
    'screenshot picture image photo capture web page website browser bildschirmfoto captura pantalla página capture écran ブラウザ スクリーンショット 撮る 截图 浏览器',
  ],
  [
    'browser_snapshot',
    'read see look content text current page browser shown elements lesen inhalt leer contenido lire contenu ブラウザ 読む ページ 页面 内容',
  ],
  ['browser_tabs', 'open tabs list which browser offene reiter pestañas abiertas onglets タブ 一覧 标签页'],
  [
    'browser_type',
    'fill in enter input write text field form search box website ausfüllen eingeben feld formular eintippen escribir rellenar campo formulario remplir champ 入力 フォーム 填写 输入 表单',
  ],
  [
    'canvas_capture',
    'image picture render show sketch drawing annotation png bild zeichnung zeigen imagen dibujo mostrar dessin 図 画像 表示 图画 图片',
  ],
  [
    'canvas_draw',
    'draw arrow circle box rectangle line mark highlight blur hide redact annotate label point shape picture screenshot image sketch zeichnen zeichne pfeil kreis markieren dibujar dibuja flecha círculo imagen dessiner flèche cercle disegnare freccia desenhar seta 図 描く 描いて 矢印 円 画 箭头 圆圈',
  ],
  [
    'canvas_open',
    'drawings sketches annotations list see shapes notes zeichnungen skizzen dibujos dessins disegni desenhos 図 一覧 图画 列表',
  ],
  [
    'collection_read',
    'read open document page chapter source cited lesen dokument seite kapitel leer documento página lire document leggere documento 文書 読む 文档 阅读',
  ],
  [
    'collection_search',
    'library knowledge base documents sources cite quote research suche dokumente sammlung quelle zitat buscar documentos fuente cita chercher documents source cercare documenti fonte コレクション 文書 検索 引用 资料集 文档 搜索 引用',
  ],
  [
    'cron_add',
    'remind reminder alarm wake schedule every daily weekly monthly each morning evening monday later repeat regularly recurring timer check automatically in minutes hours tomorrow erinnern erinnere erinnerung wecken jeden täglich wöchentlich zeitplan planen recordar recuérdame recordatorio alarma cada día mañana programar rappeler rappelle rappel chaque tous jours programmer ricordare ricordami ogni giorno lembrar lembre-me todo dia agendar リマインド 毎日 毎朝 毎週 予定 通知 時 提醒 每天 定时 闹钟',
  ],
  [
    'cron_list',
    'reminders schedules jobs scheduled alarms which set up planned automatic erinnerungen geplant automatisch laufen zeitpläne recordatorios programados rappels programmés リマインダー 予定 一覧 提醒 列表 定时任务',
  ],
  [
    'cron_remove',
    'cancel stop delete end reminder schedule alarm job daily weekly erinnerung abbrechen löschen stoppen cancelar eliminar recordatorio annuler supprimer rappel リマインダー 取消 削除 取消提醒',
  ],
  [
    'current_time',
    'time date today now clock day weekday hour timezone uhrzeit uhr spät datum heute hora fecha hoy heure date aujourd’hui ora oggi 時間 時刻 何時 今日 日付 时间 几点 今天 日期',
  ],
  [
    'desktop_screenshot',
    'screenshot screen desktop monitor display computer picture capture photo look bildschirmfoto bildschirm schreibtisch captura pantalla escritorio capture écran bureau schermo tela デスクトップ 画面 スクリーンショット 撮って 截屏 屏幕 桌面',
  ],
  [
    'desktop_windows',
    'windows open programs apps displays monitors computer desktop list fenster offen programme ventanas abiertas fenêtres ouvertes ウィンドウ 窗口',
  ],
  [
    'docs_search',
    'perch help documentation manual guide how set up configure connect settings feature change model telegram backup hilfe anleitung einrichten einstellen ayuda configurar manual aide configurer aiuto ajuda 設定 使い方 ヘルプ 帮助 设置 文档',
  ],
  [
    'exec',
    'run execute command program terminal shell console script install version disk space git npm python docker machine computer process befehl ausführen führe programm ejecutar ejecuta comando programa exécuter commande eseguire executar コマンド 実行 命令 执行 运行 终端',
  ],
  [
    'file_list',
    'files folder directory workspace list which show everything dateien ordner verzeichnis arbeitsbereich archivos carpeta lista fichiers dossier file cartella arquivos pasta ファイル 一覧 フォルダ 文件 列表 文件夹',
  ],
  [
    'file_read',
    'open read show content file notes text workspace datei lesen öffnen inhalt abrir leer archivo ouvrir lire fichier leggere ler arquivo ファイル 読む 開く 读取 文件',
  ],
  [
    'file_remove',
    'delete remove throw away trash erase file draft workspace datei löschen lösche entfernen borrar borra eliminar archivo carpeta supprimer fichier eliminare apagar arquivo ファイル 削除 删除 文件',
  ],
  [
    'file_write',
    'save create store write make new file csv markdown text note datei speichern schreiben schreib anlegen guardar guarda crear archivo escribir enregistrer créer fichier salvare salvar arquivo ファイル 保存 書く メモ 保存 文件 写入',
  ],
  [
    'message_send',
    'send message notify tell text me push phone telegram chat dm alert channel deliver nachricht senden schicken benachrichtigen melden handy mensaje enviar avisar notificar móvil message envoyer prévenir notifier téléphone messaggio inviare avvisare mensagem enviar avisar celular メッセージ 送る 通知 知らせる 消息 发送 通知 手机',
  ],
  [
    'memory_add',
    'remember save keep in mind note learn fact about me merken merk erinnern notieren recordar recuerda guardar retenir souviens mémoriser ricordare ricorda lembrar lembre 覚えて 覚える 記憶 记住 记忆',
  ],
  [
    'memory_forget',
    'forget delete remove erase memory about me no longer vergessen vergiss löschen olvidar olvida oublier oublie dimenticare esquecer 忘れて 忘れる 忘记',
  ],
  [
    'memory_propose_forgetting',
    'forget everything about wipe purge all traces completely permanently privacy person topic alles über vergessen vergiss restlos spuren olvidar todo sobre rastro oublier tout effacer dimenticare tutto esquecer tudo すべて 忘れて 完全に 全部 忘记 彻底',
  ],
  [
    'memory_search',
    'know remember recall about me my what facts memory memories wissen weißt erinnerst über mich saber sabes recuerdas sobre mí sais souviens sapere 覚えている 知って 记得 知道',
  ],
  ['memory_stats', 'how many count number memories size oldest wie viele anzahl cuántos combien 数 多少'],
  [
    'memory_update_preference',
    'prefer preference like style tone language always from now on short answers lieber bevorzugen mag ab jetzt stil prefiero preferencia préfère préférence 好み 喜欢 偏好',
  ],
  [
    'plan_create',
    'plan steps project break down big task todo list organise track goal schritte aufteilen vorhaben aufgabe pasos proyecto tareas étapes projet 計画 手順 计划 步骤',
  ],
  ['plan_get', 'plan progress status how far steps left done stand fortschritt progreso estado avancement 進捗 进度'],
  [
    'plan_update',
    'plan step done finished complete mark skip failed add change erledigt schritt abhaken paso hecho completado étape terminée 完了 完成',
  ],
  ['read_docx', 'word document letter docx doc attached text dokument brief documento carta document lettre ワード 文書 文档'],
  [
    'read_pdf',
    'pdf document page contract paper scan attached summarise dokument seite vertrag angehängt documento página contrato document adjunto pièce jointe 添付 要約 文档',
  ],
  [
    'read_pptx',
    'powerpoint presentation slides deck speaker notes pptx keynote präsentation folien presentación diapositivas adjunta présentation diapositives プレゼン スライド 幻灯片 演示',
  ],
  [
    'read_text',
    'text log file csv json markdown html attached lines code datei textdatei angehängt archivo texto adjunto fichier texte テキスト 添付 文本',
  ],
  [
    'read_xlsx',
    'excel spreadsheet table cells column row sheet sum budget xlsx tabelle zellen spalte summe hoja cálculo celdas columna tabla feuille calcul tableau 表 エクセル 表格 单元格',
  ],
  [
    'send_file',
    'send give deliver share download attach file report me schicken senden herunterladen datei enviar mandar descargar archivo envoyer télécharger fichier ファイル 送る ダウンロード 发送 文件 下载',
  ],
  [
    'session_search',
    'chat conversation talk discussed asked messages earlier old past history search find which gespräch unterhaltung chat früher nachrichten conversación charla mensajes hablamos conversation discuté 会話 チャット 以前 对话 聊天 记录',
  ],
  ['skill_read', 'skill instructions procedure how-to recipe workflow fähigkeit anleitung habilidad compétence スキル 技能'],
  [
    'web_fetch',
    'read fetch get download web page website article url link http https internet online news text webseite lesen lies seite artikel página web leer lee artículo resumir page lire article leggere ler ウェブ ページ 記事 読む 网页 文章 阅读',
  ],
  [
    'web_search',
    'search find look up google internet web online news current latest research sources suchen suche finden recherchieren nachrichten aktuell buscar busca encontrar noticias internet chercher recherche trouver actualités cercare ricerca notizie pesquisar procurar notícias 検索 調べる ニュース 最新 搜索 查找 新闻 最新',
  ],
  [
    'wiki_claim',
    'wiki add fact claim statement source evidence add record aussage quelle hinzufügen afirmación fuente añadir affirmation 主張 出典',
  ],
  ['wiki_contradictions', 'wiki contradiction conflict inconsistent disagree widerspruch widersprüche contradicción contradiction 矛盾'],
  ['wiki_read', 'wiki page open show article about seite lesen página leer page lire ページ 读'],
  ['wiki_refute', 'wiki claim false wrong never true untrue incorrect falsch widerlegen falso incorrecto faux 誤り 错误'],
  ['wiki_search', 'wiki search find look up knowledge about say suche suchen buscar chercher 検索 搜索'],
  [
    'wiki_supersede',
    'wiki claim outdated replace update changed no longer new fact veraltet ersetzen desactualizado reemplazar périmé remplacer 更新 替换',
  ],
  [
    'wiki_write',
    'wiki page write create edit new article seite schreiben anlegen escribir escribe página crear écrire page ページ 書く 写 页面',
  ],
]);
