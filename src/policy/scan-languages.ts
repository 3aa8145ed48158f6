/** Scan rules for languages other than English: overridden instructions, concealment from users, exfiltration. */

import { type Rule, rule } from './scan-words.ts';

/** Matches at the start of a word by letters, because `\b` does not support accents and other alphabets. */
const word = (text: string): RegExp => new RegExp(`(?<![\\p{L}])(?:${text})`, 'iu');

export const RULES_OF_LANGUAGES: readonly Rule[] = [
  // German
  rule(
    'instruct',
    word('ignorier|vergiss|vergessen Sie|missacht|übergeh|umgeh'),
    word('anweisung|regel|vorgabe|instruktion|befehl|richtlinie|anordnung'),
  ),
  rule(
    'conceal',
    word('ohne|nicht|nie|kein'),
    word('(?:nach)?zu?frag|rückfrage|sag|erwähn|zeig|verrat|mitteil|informier|bestätig|wissen|erfahren'),
    word('nutzer|benutzer|anwender|person|mensch|kunde'),
  ),
  rule(
    'secrets',
    word('lies|lese|öffne|kopier|hol'),
    word('datei|ordner|inhalt|schlüssel|passwort|zugangsdaten'),
    word('übergib|übergeben|füge|schreib|pack|feld|parameter|sende|schick'),
  ),
  // French
  rule(
    'instruct',
    word('ignor|oubli|néglig|outrepass|contourn'),
    word('consigne|instruction|règle|directive|ordre'),
  ),
  rule(
    'conceal',
    word("ne |n['’]|sans|jamais"),
    word('parl|dis|dire|mentionn|montr|révél|inform|prévien|préven|averti|demand'),
    word("utilisat|l['’]usager|la personne|le client"),
  ),
  rule(
    'secrets',
    word('lis|lire|ouvr|copi|récupèr'),
    word('fichier|dossier|contenu|clé|mot de passe|identifiant'),
    word('passe|transmet|mets|ajout|paramètre|champ|envoi'),
  ),
  // Spanish and Portuguese
  rule(
    'instruct',
    word('ignor|olvid|descart|omit|esqueç|desconsider'),
    word('instrucci|regla|indicaci|orden|instruç|regra|ordens'),
  ),
  rule(
    'conceal',
    word('no |sin|nunca|jamás|não|sem'),
    word('dig|menci|muestr|revel|inform|avis|pregunt|pergunt|mostr|cont'),
    word('usuari|usuár|persona|pessoa|client|lo |nada'),
  ),
  rule(
    'secrets',
    word('abre|abra|lee|lea|leia|ler|copi|obt'),
    word('archivo|fichero|arquivo|contenido|conteúdo|clave|chave|contraseña|senha|token'),
    word('pon|pas[ae]|inclu|envi|coloq|parámetro|parâmetro|campo'),
  ),
  // Italian
  rule('instruct', word('ignor|dimentic|trascur'), word('istruzion|regol|direttiv|indicazion')),
  rule(
    'conceal',
    word('non|senza|mai'),
    word('dir|mostr|menzion|rivel|inform|avvis|chied'),
    word('utent|persona|cliente'),
  ),
  // Dutch and Polish
  rule(
    'instruct',
    word('negeer|vergeet|omzeil|zignoruj|ignoruj|zapomnij|pomiń'),
    word('instructie|regel|opdracht|instrukcj|polece|zasad|wytyczn'),
  ),
  rule(
    'conceal',
    word('niet|zonder|nooit|nie|bez'),
    word('vertel|noem|toon|vraag|meld|mów|wspomin|pokazu|pyta|informu'),
    word('gebruiker|użytkownik'),
  ),
  // Russian and Ukrainian
  rule(
    'instruct',
    word('игнорир|забудь|пренебрег|не учитыва|обойди|ігнору'),
    word('инструкц|правил|указани|команд|ограничени|інструкц'),
  ),
  rule(
    'conceal',
    word('не|без|никогда'),
    word('говор|сообща|упомина|показыв|рассказыв|спраш|подтвержд|уведомл|спрос'),
    word('пользовател|человек|клиент|користувач|подтвержд|спрос'),
  ),
  rule(
    'secrets',
    word('прочита|открой|скопиру|считай'),
    word('файл|папк|ключ|парол|токен|содержим'),
    word('переда|встав|помест|отправ|параметр|пол[ея]'),
  ),
  // Chinese
  rule(
    'instruct',
    /(?:忽略|无视|無視|忘记|忘掉|忘記|不要理会|绕过|覆盖)/u,
    /(?:指令|指示|规则|規則|提示|说明|說明|限制|命令)/u,
  ),
  rule(
    'conceal',
    /(?:不要|别|別|无需|無需|切勿|不得|请勿|不必)/u,
    /(?:告诉|告訴|告知|提示|通知|询问|詢問|显示|顯示|提及|透露|确认|確認)/u,
    /(?:用户|用戶|使用者|任何人|对方)/u,
  ),
  rule(
    'secrets',
    /(?:读取|讀取|打开|打開|复制|複製|获取)/u,
    /(?:密钥|密鑰|密码|密碼|凭证|凭据|令牌|文件|档案|内容|環境變數|环境变量)/u,
    /(?:放入|传入|传递|作为|参数|發送|发送|填入|附上)/u,
  ),
  // Japanese and Korean
  rule(
    'instruct',
    /(?:無視|忘れ|破棄|上書き|무시|잊)/u,
    /(?:指示|命令|ルール|規則|プロンプト|制限|지시|명령|규칙|프롬프트)/u,
  ),
  rule(
    'conceal',
    /(?:ユーザー|利用者|使用者|사용자)/u,
    /(?:知らせ|伝え|言わ|見せ|教え|確認せず|確認なし|알리지|말하지|보여주지|확인 없이|묻지)/u,
  ),
  rule(
    'secrets',
    /(?:読み|読ん|開い|コピー|읽|열어)/u,
    /(?:ファイル|鍵|パスワード|トークン|内容|파일|비밀번호|토큰|키)/u,
    /(?:渡し|入れ|引数|パラメータ|送信|送っ|전달|넣|보내|매개변수)/u,
  ),
  // Exfiltration, in any of these languages.
  rule(
    'exfil',
    word(
      'send|schick|übermittl|envoi|envoy|transmet|envía|envia|manda|remite|envie|invia|spedisc|stuur|wyślij|отправ|перешл|відправ|发送|發送|上传|上傳|送信|転送|보내|전송',
    ),
    /https?:\/\/|[\w.+-]+@[\w-]+\.[a-z]{2,}/i,
    word(
      'kopie|copie|copia|cópia|kopia|копи|副本|コピー|jede|chaque|cada|ogni|elke|każd|кажд|每|すべて|모든|nachricht|message|mensaje|mensagem|messaggio|сообщени|消息|メッセージ',
    ),
  ),
];
